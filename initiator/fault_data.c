#include "initiator/fault_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum stage {
	STAGE_LAST,   /* then the outer I/O is answered */
	STAGE_AGAIN,  /* FAULT_DUPLICATE: then the other address */
	STAGE_BEFORE, /* FAULT_STALE: reads what is there; then the write */
};

struct shadow {
	struct io io;
	struct io *outer; /* borrowed; NULL: free */
	enum stage stage;
	void *buf; /* owned; or NULL */
};

struct fault_data {
	struct fault_data_setup setup;
	struct shadow *shadows; /* owned; setup.depth */
	struct rng rng;
	/* Of the last FAULT_STALE: what was there; bytes 0: none. */
	uint64_t stale_offset;
	uint32_t stale_bytes;
	void *stale; /* owned */
};

struct fault_data *fault_data_new(const struct fault_data_setup *s)
{
	struct fault_data *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->setup = *s;
	if (!d->setup.depth)
		d->setup.depth = 1;
	rng_init(&d->rng, s->seed);
	d->shadows = calloc(d->setup.depth, sizeof(*d->shadows));
	if (!d->shadows) {
		free(d);
		return NULL;
	}
	return d;
}

void fault_data_free(struct fault_data *d)
{
	if (!d)
		return;
	free(d->stale);
	free(d->shadows);
	free(d);
}

bool fault_data_fits(const struct fault_data *d, enum fault_kind kind,
		     const struct io *io)
{
	uint32_t block = d->setup.lun->block_bytes;

	if (io->op != OP_WRITE)
		return false;
	if (kind == FAULT_SWAP || kind == FAULT_TEAR)
		return io->length_bytes >= 2 * block;
	if (kind == FAULT_MISDIRECT || kind == FAULT_DUPLICATE)
		return lun_bytes(d->setup.lun) >=
		       2 * (uint64_t)io->length_bytes;
	return true;
}

/* --- what is written instead --- */

static void flip(struct fault_data *d, uint8_t *buf, uint32_t bytes)
{
	uint64_t bit = rng_below(&d->rng, 8ULL * bytes);

	buf[bit / 8] ^= 1u << bit % 8;
}

static void swap(struct fault_data *d, uint8_t *buf, uint32_t bytes)
{
	uint32_t block = d->setup.lun->block_bytes, i;
	uint32_t blocks = bytes / block;
	uint32_t a = rng_below(&d->rng, blocks);
	uint32_t b = (a + 1 + rng_below(&d->rng, blocks - 1)) % blocks;
	uint8_t *p = buf + (size_t)a * block, *q = buf + (size_t)b * block, was;

	for (i = 0; i < block; i++) {
		was = p[i];
		p[i] = q[i];
		q[i] = was;
	}
}

/* Another address that has nothing of its own. */
static uint64_t elsewhere(struct fault_data *d, const struct io *io)
{
	uint32_t block = d->setup.lun->block_bytes;
	uint64_t first = io->offset_bytes / block;
	uint64_t blocks = io->length_bytes / block;
	uint64_t room = d->setup.lun->blocks - blocks + 1, lba;

	do
		lba = rng_below(&d->rng, room);
	while (lba < first + blocks && first < lba + blocks);
	return lba * block;
}

static void *page_buffer(uint32_t bytes)
{
	return aligned_alloc(4096, ((size_t)bytes + 4095) / 4096 * 4096);
}

static void alter(struct fault_data *d, enum fault_kind kind, struct shadow *s)
{
	uint32_t block = d->setup.lun->block_bytes;
	struct io *io = &s->io;

	switch (kind) {
	case FAULT_FLIP:
		flip(d, s->buf, io->length_bytes);
		break;
	case FAULT_SWAP:
		swap(d, s->buf, io->length_bytes);
		break;
	case FAULT_ZERO:
		memset(s->buf, 0, io->length_bytes);
		break;
	case FAULT_TEAR:
		io->length_bytes = io->length_bytes / block / 2 * block;
		break;
	case FAULT_MISDIRECT:
		io->offset_bytes = elsewhere(d, s->outer);
		break;
	case FAULT_DUPLICATE:
		s->stage = STAGE_AGAIN;
		break;
	default:
		s->stage = STAGE_BEFORE;
		io->op = OP_READ;
	}
}

static void release(struct shadow *s)
{
	free(s->buf);
	memset(s, 0, sizeof(*s));
}

static int send(struct fault_data *d, struct shadow *s)
{
	s->io.result = 0;
	memset(&s->io.detail, 0, sizeof(s->io.detail));
	return d->setup.inside->submit(*d->setup.inner, &s->io);
}

int fault_data_submit(struct fault_data *d, enum fault_kind kind, struct io *io)
{
	struct shadow *s = d->shadows;
	int r;

	while (s < d->shadows + d->setup.depth && s->outer)
		s++;
	if (s == d->shadows + d->setup.depth)
		return -ENOBUFS;
	s->io = (struct io){.op = io->op,
			    .offset_bytes = io->offset_bytes,
			    .length_bytes = io->length_bytes,
			    .fua = io->fua};
	s->outer = io;
	s->stage = STAGE_LAST;
	s->io.buf = s->buf = page_buffer(io->length_bytes);
	if (!s->buf) {
		release(s);
		return -ENOMEM;
	}
	memcpy(s->buf, io->buf, io->length_bytes);
	alter(d, kind, s);
	r = send(d, s);
	if (r)
		release(s);
	return r;
}

/* --- answers --- */

static void keep_stale(struct fault_data *d, struct shadow *s)
{
	free(d->stale);
	d->stale = s->buf;
	d->stale_offset = s->io.offset_bytes;
	d->stale_bytes = s->io.length_bytes;
	s->buf = NULL;
}

/* A read gets the old blocks, as far as it covers them, once. */
static void give_stale(struct fault_data *d, struct io *io)
{
	uint64_t from = io->offset_bytes, to = from + io->length_bytes;

	if (!d->stale_bytes || io->op != OP_READ || io->result)
		return;
	if (from < d->stale_offset)
		from = d->stale_offset;
	if (to > d->stale_offset + d->stale_bytes)
		to = d->stale_offset + d->stale_bytes;
	if (from >= to)
		return;
	memcpy((uint8_t *)io->buf + (from - io->offset_bytes),
	       (uint8_t *)d->stale + (from - d->stale_offset), to - from);
	d->stale_bytes = 0;
}

/* The second step of a fault that has two. False: there is none. */
static bool go_on(struct fault_data *d, struct shadow *s)
{
	if (s->stage == STAGE_LAST || s->io.result)
		return false;
	if (s->stage == STAGE_AGAIN) {
		s->io.offset_bytes = elsewhere(d, s->outer);
	} else {
		keep_stale(d, s);
		s->io.op = OP_WRITE;
		s->io.buf = s->outer->buf;
	}
	s->stage = STAGE_LAST;
	s->io.result = send(d, s);
	if (!s->io.result)
		d->setup.inside->kick(*d->setup.inner);
	return !s->io.result;
}

bool fault_data_done(struct fault_data *d, struct io *io)
{
	struct shadow *s = (struct shadow *)io;
	struct io *outer;

	if (s < d->shadows || s >= d->shadows + d->setup.depth) {
		give_stale(d, io);
		return false;
	}
	if (go_on(d, s))
		return true;
	outer = s->outer;
	outer->result = s->io.result;
	outer->detail = s->io.detail;
	outer->times = s->io.times;
	release(s);
	d->setup.on_done(d->setup.user, outer);
	return true;
}
