#include "workloads/payload.h"

#include <string.h>

enum { CELL_MAX = 4096, STAMP_EVERY = 512, STAMP_BYTES = 16 };

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* A write shorter than a cell would take only its random part along. */
static size_t cell_bytes(const struct job_opts *o)
{
	size_t cell = CELL_MAX, i;

	if (!o->nr_bssplit[OP_WRITE])
		return smaller(cell, o->bs[OP_WRITE]);
	for (i = 0; i < o->nr_bssplit[OP_WRITE]; i++)
		cell = smaller(cell, o->bssplit[OP_WRITE][i].bytes);
	return cell;
}

void payload_init(struct payload *p, const struct job_opts *o, uint64_t seed)
{
	p->opts = o;
	rng_init(&p->rng, seed);
	/* Clients that write the same region must not write the same stamps. */
	p->counter = rng_next(&p->rng);
	p->cell_bytes = cell_bytes(o);
	if (o->compress_percent)
		p->random_bytes = p->cell_bytes -
				  p->cell_bytes * o->compress_percent / 100;
	else if (o->pattern_len || o->zero_buffers)
		p->random_bytes = 0;
	else
		p->random_bytes = p->cell_bytes;
}

static void fill_random(struct rng *rng, unsigned char *buf, size_t len)
{
	uint64_t x;

	for (; len >= sizeof(x); buf += sizeof(x), len -= sizeof(x)) {
		x = rng_next(rng);
		memcpy(buf, &x, sizeof(x));
	}
	x = rng_next(rng);
	memcpy(buf, &x, len);
}

static void fill_fixed(const struct job_opts *o, unsigned char *buf, size_t len)
{
	size_t n;

	if (!o->pattern_len) {
		memset(buf, 0, len);
		return;
	}
	for (; len; buf += n, len -= n) {
		n = smaller(len, o->pattern_len);
		memcpy(buf, o->pattern, n);
	}
}

void payload_fill(struct payload *p, void *buf, size_t len)
{
	unsigned char *at = buf;
	size_t cell, random;

	/* Nothing but the pattern: it must not start anew in each cell. */
	if (!p->random_bytes) {
		fill_fixed(p->opts, at, len);
		return;
	}
	for (; len; at += cell, len -= cell) {
		cell = smaller(len, p->cell_bytes);
		random = smaller(cell, p->random_bytes);
		fill_random(&p->rng, at, random);
		fill_fixed(p->opts, at + random, cell - random);
	}
}

/* Stamps the random part of each cell. */
static void stamp(const struct payload *p, unsigned char *buf, size_t len,
		  uint64_t offset_bytes)
{
	size_t cell, i, end;
	uint64_t text[STAMP_BYTES / sizeof(uint64_t)];

	text[1] = p->counter;
	for (cell = 0; cell < len; cell += p->cell_bytes) {
		end = smaller(cell + p->random_bytes, len);
		for (i = cell; i + STAMP_BYTES <= end; i += STAMP_EVERY) {
			text[0] = offset_bytes + i;
			memcpy(buf + i, text, sizeof(text));
		}
	}
}

void payload_stamp(struct payload *p, void *buf, size_t len,
		   uint64_t offset_bytes)
{
	if (!p->random_bytes)
		return;
	if (p->opts->refill_buffers) {
		payload_fill(p, buf, len);
		return;
	}
	stamp(p, buf, len, offset_bytes);
	p->counter++;
}
