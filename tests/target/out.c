#include "tests/target/out.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int out_init(struct out *o)
{
	memset(o, 0, sizeof(*o));
	o->iov = malloc(OUT_VECTORS * sizeof(*o->iov));
	o->bytes = malloc(OUT_BYTES);
	return o->iov && o->bytes ? 0 : -ENOMEM;
}

void out_release(struct out *o)
{
	free(o->iov);
	free(o->bytes);
}

bool out_has_room(const struct out *o, size_t pdus)
{
	return o->n + 2 * pdus + 2 <= OUT_VECTORS &&
	       o->used + 48 * pdus + 16384 <= OUT_BYTES;
}

void out_ref(struct out *o, void *data, size_t n)
{
	if (n)
		o->iov[o->n++] = (struct iovec){data, n};
}

uint8_t *out_bytes(struct out *o, size_t n)
{
	uint8_t *p = o->bytes + o->used;
	struct iovec *last = o->iov + o->n - 1;

	memset(p, 0, n);
	o->used += n;
	if (o->n > o->first && (uint8_t *)last->iov_base + last->iov_len == p)
		last->iov_len += n;
	else
		out_ref(o, p, n);
	return p;
}

static void drop_sent(struct out *o, size_t n)
{
	struct iovec *v = o->iov + o->first;

	while (n >= v->iov_len && o->first < o->n) {
		n -= v->iov_len;
		v++;
		o->first++;
	}
	if (o->first == o->n) {
		o->first = o->n = o->used = 0;
	} else {
		v->iov_base = (uint8_t *)v->iov_base + n;
		v->iov_len -= n;
	}
}

int out_flush(struct out *o, int fd)
{
	while (!out_is_empty(o)) {
		size_t n = o->n - o->first;
		struct msghdr m = {
			.msg_iov = o->iov + o->first,
			.msg_iovlen = n < IOV_MAX ? n : IOV_MAX,
		};
		ssize_t sent = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno != EINTR)
			return -errno;
		if (sent > 0)
			drop_sent(o, sent);
	}
	return 0;
}
