#include "target/relay.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

/* A management request is a header and one line of parameters. */
enum { REQUEST_MAX = 16384 };

static int unix_socket(const char *path, struct sockaddr_un *at, struct err *e)
{
	int fd;

	memset(at, 0, sizeof(*at));
	at->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(at->sun_path))
		return err_set(e, -ENAMETOOLONG,
			       "\"%s\" is too long for a socket", path);
	memcpy(at->sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, -errno, "no socket: %s", strerror(errno));
	return fd;
}

int relay_listen(const char *front, struct err *e)
{
	struct sockaddr_un at;
	int fd = unix_socket(front, &at, e), err = 0;

	if (fd < 0)
		return fd;
	unlink(front); /* of one that was killed */
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err_set(e, err, "cannot listen on \"%s\": %s", front,
		       strerror(-err));
}

/* Waits until one of two is readable (-1: leave it out). Index, or -errno. */
static int wait_readable(int a, int b, uint64_t end_ns)
{
	struct pollfd p[2] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
	uint64_t now;
	int n;

	do {
		now = clock_now_ns();
		if (now >= end_ns)
			return -ETIMEDOUT;
		n = poll(p, 2, (int)((end_ns - now) / NS_PER_MSEC + 1));
		if (n < 0 && errno != EINTR)
			return -errno;
	} while (n <= 0);
	return p[0].revents ? 0 : 1;
}

static int send_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	for (; len; data += n, len -= n) {
		n = send(fd, data, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0)
			return -errno;
	}
	return 0;
}

/* Holds the request back until the placeholder is whole, for it may come in
 * any pieces, and sends it on with the secret in its place. */
static int pass_request(int client, int server, const char *placeholder,
			const char *secret, uint64_t end_ns)
{
	size_t n = strlen(placeholder), len = 0;
	char request[REQUEST_MAX], *at = NULL;
	ssize_t got;
	int err;

	while (!at) {
		err = wait_readable(client, -1, end_ns);
		if (err < 0)
			return err;
		got = recv(client, request + len, sizeof(request) - len, 0);
		if (got <= 0)
			return got < 0 ? -errno : -EPROTO;
		len += got;
		at = memmem(request, len, placeholder, n);
	}
	memcpy(at, secret, n);
	err = send_all(server, request, len);
	explicit_bzero(request, sizeof(request));
	return err;
}

/* Both ways until either side closes. */
static int pass_rest(int client, int server, uint64_t end_ns)
{
	const int fd[2] = {client, server};
	char data[4096];
	ssize_t n;
	int i, err = 0;

	while (!err) {
		i = wait_readable(client, server, end_ns);
		if (i < 0)
			return i;
		n = recv(fd[i], data, sizeof(data), 0);
		if (n <= 0) /* who takes its answer may reset, and is done */
			return 0;
		err = send_all(fd[1 - i], data, n);
	}
	return err;
}

int relay_serve(int listener, const char *back, const char *placeholder,
		const char *secret, uint64_t end_ns, struct err *e)
{
	struct sockaddr_un at;
	int client = -1, server, err;

	server = unix_socket(back, &at, e);
	if (server < 0)
		return server;
	err = wait_readable(listener, -1, end_ns);
	if (!err) {
		client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (client < 0 ||
		    connect(server, (struct sockaddr *)&at, sizeof(at)))
			err = -errno;
	}
	if (!err)
		err = pass_request(client, server, placeholder, secret, end_ns);
	if (!err)
		err = pass_rest(client, server, end_ns);
	if (client >= 0)
		close(client);
	close(server);
	if (err)
		return err_set(e, err, "cannot pass a request on to \"%s\": %s",
			       back, strerror(-err));
	return 0;
}
