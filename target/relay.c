#include "target/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

/* A management request is a header and one line of parameters. */
enum { REQUEST_MAX = 16384 };

struct relay {
	const char *front, *back, *placeholder, *secret; /* borrowed */
	uint64_t end_ns;
	pthread_t thread;
	int listener; /* owned */
	int stop[2];  /* owned; a pipe: its end wakes the thread */
	bool passed_on;
	struct err why; /* the thread's until it is joined */
};

static int unix_socket(const char *path, struct sockaddr_un *at, struct err *e)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memset(at, 0, sizeof(*at));
	at->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(at->sun_path)) {
		close(fd);
		return err_set(e, -ENAMETOOLONG,
			       "\"%s\" is too long for a socket", path);
	}
	memcpy(at->sun_path, path, strlen(path));
	return fd < 0 ? err_set(e, -errno, "no socket: %s", strerror(errno))
		      : fd;
}

/* Waits until one of the two is readable (-1: leave it out). Index, or -errno.
 */
static int wait_readable(struct relay *r, int a, int b)
{
	struct pollfd p[3] = {
		{a, POLLIN, 0}, {b, POLLIN, 0}, {r->stop[0], POLLIN, 0}};
	uint64_t now;
	int n;

	for (;;) {
		now = clock_now_ns();
		if (now >= r->end_ns)
			return -ETIMEDOUT;
		n = poll(p, 3, (int)((r->end_ns - now) / NS_PER_MSEC + 1));
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && p[0].revents)
			return 0;
		if (n > 0 && p[1].revents)
			return 1;
		if (n > 0)
			return -ECANCELED;
	}
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
static int pass_request(struct relay *r, int client, int server)
{
	size_t n = strlen(r->placeholder), len = 0;
	char request[REQUEST_MAX], *at = NULL;
	ssize_t got;
	int err;

	while (!at) {
		err = wait_readable(r, client, -1);
		if (err < 0)
			return err;
		got = recv(client, request + len, sizeof(request) - len, 0);
		if (got <= 0)
			return got < 0 ? -errno : -EPROTO;
		len += got;
		at = memmem(request, len, r->placeholder, n);
	}
	memcpy(at, r->secret, n);
	err = send_all(server, request, len);
	explicit_bzero(request, sizeof(request));
	r->passed_on = !err;
	return err;
}

/* Both ways until either side closes. */
static int pass_rest(struct relay *r, int client, int server)
{
	const int fd[2] = {client, server};
	char data[4096];
	ssize_t n;
	int i, err = 0;

	while (!err) {
		i = wait_readable(r, client, server);
		if (i < 0)
			return i;
		n = recv(fd[i], data, sizeof(data), 0);
		if (n <= 0)
			return n < 0 ? -errno : 0;
		err = send_all(fd[1 - i], data, n);
	}
	return err;
}

static void *serve(void *user)
{
	struct relay *r = user;
	struct sockaddr_un at;
	int client = -1, server = -1, err;

	err = wait_readable(r, r->listener, -1);
	if (err < 0)
		goto out;
	client = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
	server = unix_socket(r->back, &at, &r->why);
	if (client < 0 || server < 0 ||
	    connect(server, (struct sockaddr *)&at, sizeof(at))) {
		err = -errno;
		goto out;
	}
	err = pass_request(r, client, server);
	if (!err)
		err = pass_rest(r, client, server);
out:
	if (client >= 0)
		close(client);
	if (server >= 0)
		close(server);
	if (err < 0 && !r->passed_on)
		err_set(&r->why, err,
			"cannot pass the account on to tgtd through \"%s\": %s",
			r->front, strerror(-err));
	return NULL;
}

int relay_start(struct relay **out, const char *front, const char *back,
		const char *placeholder, const char *secret,
		uint64_t deadline_ns, struct err *e)
{
	struct relay *r = calloc(1, sizeof(*r));
	struct sockaddr_un at;
	int err;

	*out = NULL;
	if (!r)
		return err_set(e, -ENOMEM, "no memory for \"%s\"", front);
	*r = (struct relay){.front = front,
			    .back = back,
			    .placeholder = placeholder,
			    .secret = secret,
			    .end_ns = clock_now_ns() + deadline_ns,
			    .stop = {-1, -1}};
	r->listener = unix_socket(front, &at, e);
	if (r->listener < 0) {
		err = r->listener;
		goto fail;
	}
	unlink(front);
	err = 0;
	if (bind(r->listener, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(r->listener, 1) || pipe2(r->stop, O_CLOEXEC))
		err = -errno;
	if (!err)
		err = -pthread_create(&r->thread, NULL, serve, r);
	if (err) {
		err_set(e, err, "cannot listen on \"%s\": %s", front,
			strerror(-err));
		goto fail;
	}
	*out = r;
	return 0;
fail:
	unlink(front);
	if (r->listener >= 0)
		close(r->listener);
	for (int i = 0; i < 2; i++)
		if (r->stop[i] >= 0)
			close(r->stop[i]);
	free(r);
	return err;
}

int relay_stop(struct relay *r, struct err *e)
{
	int err = 0;

	close(r->stop[1]);
	pthread_join(r->thread, NULL);
	close(r->stop[0]);
	close(r->listener);
	unlink(r->front);
	if (!r->passed_on)
		err = err_set(e, r->why.code ? r->why.code : -EIO, "%s",
			      r->why.text);
	free(r);
	return err;
}
