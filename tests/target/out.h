#ifndef TESTS_TARGET_OUT_H
#define TESTS_TARGET_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * What a session of the instant target has to send: bytes that are copied, and
 * stretches of the store that are not. All of it leaves in as few calls as
 * the socket allows.
 */
enum { OUT_VECTORS = 2048, OUT_BYTES = 128 << 10 };

struct out {
	struct iovec *iov; /* owned */
	size_t first, n;
	uint8_t *bytes; /* owned */
	size_t used;
};

int out_init(struct out *o);
void out_release(struct out *o);

/* Is there room for @pdus headers with data, one of them copied? */
bool out_has_room(const struct out *o, size_t pdus);
static inline bool out_is_empty(const struct out *o)
{
	return o->first == o->n;
}

/* @n zeroed bytes to be filled. There must be room. */
uint8_t *out_bytes(struct out *o, size_t n);
void out_ref(struct out *o, void *data, size_t n);

/* 0: all has gone; -EAGAIN: not all; or -errno. */
int out_flush(struct out *o, int fd);

#endif
