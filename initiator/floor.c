#include "initiator/floor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum { HEADER_BYTES = 48, LOOK_MS = 50 };

#define GRACE_NS (5 * NS_PER_SEC)
#define BUFFER_BYTES ((size_t)1 << 20)

/* --- messages --- */

/* Of message @n; both sides count, so no header needs to be read. */
static uint64_t bytes_of(const struct floor_opts *o, uint64_t n, bool of_answer)
{
	bool is_read = o->reads && (!o->writes || n % 2 == 0);

	return HEADER_BYTES + (is_read == of_answer ? o->block_bytes : 0);
}

/* One direction of the exchange: messages that went through it, and what is
 * there of the next. */
struct stream {
	const struct floor_opts *opts;
	bool is_answer;
	uint64_t messages, part_bytes;
};

/* @n more bytes. */
static void stream_add(struct stream *s, uint64_t n)
{
	uint64_t whole;

	s->part_bytes += n;
	while (s->part_bytes >=
	       (whole = bytes_of(s->opts, s->messages, s->is_answer))) {
		s->part_bytes -= whole;
		s->messages++;
	}
}

/* Bytes until @end messages are through, as many as a buffer holds. */
static size_t stream_left(const struct stream *s, uint64_t end)
{
	uint64_t bytes = 0, n;

	for (n = s->messages; n < end && bytes < BUFFER_BYTES + s->part_bytes;
	     n++)
		bytes += bytes_of(s->opts, n, s->is_answer);
	bytes = bytes > s->part_bytes ? bytes - s->part_bytes : 0;
	return bytes < BUFFER_BYTES ? bytes : BUFFER_BYTES;
}

/* --- the sockets --- */

static int fail(struct err *e, const char *what)
{
	return err_set(e, -errno, "loopback sockets: %s: %s", what,
		       strerror(errno));
}

static int set_nodelay(int fd)
{
	int one = 1;

	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Two ends of one connection over 127.0.0.1. */
static int make_pair(int fd[2], struct err *e)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r = 0;

	fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fd[1] = -1;
	if (listener < 0 || fd[0] < 0 ||
	    bind(listener, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&a, &len) ||
	    connect(fd[0], (struct sockaddr *)&a, sizeof(a)))
		r = fail(e, "connect");
	if (!r) {
		fd[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd[1] < 0 || set_nodelay(fd[0]) || set_nodelay(fd[1]))
			r = fail(e, "accept");
	}
	if (listener >= 0)
		close(listener);
	return r;
}

/* --- the side that answers --- */

struct answerer {
	const struct floor_opts *opts;
	int fd;
	char *buffer; /* borrowed */
};

static bool send_all(int fd, const char *buffer, size_t n)
{
	ssize_t sent;

	for (; n; n -= sent) {
		sent = send(fd, buffer, n, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			sent = 0;
		if (sent < 0)
			return false;
	}
	return true;
}

/* Until the other end is closed. All that has come is answered at once. */
static void *answer(void *arg)
{
	struct answerer *a = arg;
	struct stream in = {.opts = a->opts};
	struct stream out = {.opts = a->opts, .is_answer = true};
	ssize_t n;
	size_t left;

	for (;;) {
		n = recv(a->fd, a->buffer, BUFFER_BYTES, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		stream_add(&in, n);
		while ((left = stream_left(&out, in.messages))) {
			if (!send_all(a->fd, a->buffer, left))
				return NULL;
			stream_add(&out, left);
		}
	}
}

/* --- the side that asks --- */

struct asker {
	const struct floor_opts *opts;
	int fd;
	char *buffer; /* borrowed */
	struct stream out, in;
};

/* Sends what the depth allows and takes what is there. Does not wait longer
 * than LOOK_MS. */
static int turn(struct asker *a, struct err *e)
{
	struct pollfd p = {.fd = a->fd, .events = POLLIN};
	size_t left = stream_left(&a->out, a->in.messages + a->opts->depth);
	ssize_t n;

	if (left) {
		n = send(a->fd, a->buffer, left, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0)
			stream_add(&a->out, n);
		else if (errno != EAGAIN && errno != EINTR)
			return fail(e, "send");
		if (n != (ssize_t)left)
			p.events |= POLLOUT;
	}
	n = recv(a->fd, a->buffer, BUFFER_BYTES, MSG_DONTWAIT);
	if (n > 0) {
		stream_add(&a->in, n);
		return 0;
	}
	if (!n)
		return err_set(e, -EPIPE, "loopback sockets: they were closed");
	if (errno != EAGAIN && errno != EINTR)
		return fail(e, "recv");
	poll(&p, 1, LOOK_MS);
	return 0;
}

static uint64_t thread_cpu_ns(void)
{
	uint64_t user, system;

	clock_thread_cpu_ns(&user, &system);
	return user + system;
}

/* Until @until_ns, and until at least one more was answered. */
static int ask_until(struct asker *a, uint64_t until_ns, struct err *e)
{
	uint64_t before = a->in.messages, now;
	int r;

	do {
		r = turn(a, e);
		if (r)
			return r;
		if (a->opts->stop && *a->opts->stop)
			return err_set(e, -EINTR, "interrupted");
		now = clock_now_ns();
		if (now > until_ns + GRACE_NS)
			return err_set(e, -ETIMEDOUT,
				       "loopback sockets: no answer in time");
	} while (now < until_ns || a->in.messages == before);
	return 0;
}

static int ask(struct asker *a, struct floor_result *r, struct err *e)
{
	uint64_t start_ns, cpu_ns, messages;
	int code = ask_until(a, clock_now_ns() + a->opts->runtime_ns / 10, e);

	if (code)
		return code;
	start_ns = clock_now_ns();
	cpu_ns = thread_cpu_ns();
	messages = a->in.messages;
	code = ask_until(a, start_ns + a->opts->runtime_ns, e);
	r->messages = a->in.messages - messages;
	r->elapsed_ns = clock_now_ns() - start_ns;
	r->cpu_ns = thread_cpu_ns() - cpu_ns;
	return code;
}

int floor_measure(const struct floor_opts *o, struct floor_result *r,
		  struct err *e)
{
	struct answerer answerer = {.opts = o};
	struct asker asker = {.opts = o,
			      .out = {.opts = o},
			      .in = {.opts = o, .is_answer = true}};
	char *buffers = calloc(2, BUFFER_BYTES);
	int fd[2] = {-1, -1}, code;
	pthread_t thread;

	memset(r, 0, sizeof(*r));
	if (!buffers)
		return err_set(e, -ENOMEM, "no memory for loopback sockets");
	code = make_pair(fd, e);
	if (code)
		goto out;
	asker.fd = fd[0];
	asker.buffer = buffers;
	answerer.fd = fd[1];
	answerer.buffer = buffers + BUFFER_BYTES;
	code = -pthread_create(&thread, NULL, answer, &answerer);
	if (code) {
		err_set(e, code, "loopback sockets: no thread: %s",
			strerror(-code));
		goto out;
	}
	code = ask(&asker, r, e);
	/* Ends the other side's waits, whichever they are. */
	shutdown(fd[0], SHUT_RDWR);
	pthread_join(thread, NULL);
out:
	if (fd[0] >= 0)
		close(fd[0]);
	if (fd[1] >= 0)
		close(fd[1]);
	free(buffers);
	return code;
}
