#ifndef TESTS_UNIT_CUT_H
#define TESTS_UNIT_CUT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * For tests of the wire: sendmsg and recvmsg, through which it reaches the
 * kernel, defined here and cut where a test says. Included by one file of a
 * program, since it defines them.
 */
enum { CUT_NOT, CUT_EOF = -1 }; /* beside an errno */

struct cut {
	uint64_t bytes; /* that have passed */
	uint64_t at;	/* a call that would go beyond this ends there, ... */
	int then;	/* ... and the next one tells this, once */
	size_t most;	/* of one call; 0: any. Each second call is EAGAIN */
	bool has_had;	/* with @most: the last call was no EAGAIN */
	unsigned int calls;
	size_t asked; /* bytes, of the last call */
};

static struct cut cut_in, cut_out;

typedef ssize_t cut_call(int fd, struct msghdr *m, int flags);

static inline ssize_t cut_recv(int fd, struct msghdr *m, int flags)
{
	return syscall(SYS_recvmsg, fd, m, flags);
}

static inline ssize_t cut_send(int fd, struct msghdr *m, int flags)
{
	return syscall(SYS_sendmsg, fd, m, flags);
}

static inline ssize_t cut_short(cut_call *call, int fd, const struct msghdr *m,
				int flags, size_t limit)
{
	static struct iovec v[1024];
	struct msghdr less = *m;
	size_t i;

	less.msg_iov = v;
	less.msg_iovlen = 0;
	for (i = 0; i < m->msg_iovlen && limit; i++) {
		v[i] = m->msg_iov[i];
		if (v[i].iov_len > limit)
			v[i].iov_len = limit;
		limit -= v[i].iov_len;
		less.msg_iovlen++;
	}
	return call(fd, &less, flags);
}

static inline ssize_t cut_pass(struct cut *c, cut_call *call, int fd,
			       const struct msghdr *m, int flags)
{
	size_t limit = c->most ? c->most : SIZE_MAX;
	ssize_t n;

	c->calls++;
	c->asked = 0;
	for (size_t i = 0; i < m->msg_iovlen; i++)
		c->asked += m->msg_iov[i].iov_len;
	if (c->most && c->has_had) {
		c->has_had = false;
		errno = EAGAIN;
		return -1;
	}
	if (c->then && c->bytes == c->at) {
		errno = c->then;
		c->then = CUT_NOT;
		return errno == CUT_EOF ? 0 : -1;
	}
	if (c->then && c->at - c->bytes < limit)
		limit = c->at - c->bytes;
	n = cut_short(call, fd, m, flags, limit);
	if (n > 0)
		c->bytes += n;
	c->has_had = n > 0;
	return n;
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	return cut_pass(&cut_in, cut_recv, fd, m, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	return cut_pass(&cut_out, cut_send, fd, m, flags);
}

/* At @at bytes from now on; @then CUT_NOT: nowhere. */
static inline void cut_set(struct cut *c, uint64_t at, int then)
{
	*c = (struct cut){.at = at, .then = then};
}

#endif
