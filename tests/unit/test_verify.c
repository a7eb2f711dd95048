/*
 * Each kind of fault that a target can do to data without a word, a thousand
 * random ones of each: the fault transport does it to a file, and verify must
 * find it and name it. And nothing else.
 */
#include "initiator/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/rng.h"
#include "initiator/fault.h"
#include "tests/unit/unit.h"

enum { BLOCK = 512, BLOCKS = 64, LARGEST = 16, ROUNDS = 1000 };

struct disk { /* one connection to the file */
	struct url url;
	const struct transport *transport;
	struct conn *conn;
	bool is_open, is_done, is_closed;
};

struct bench {
	char path[64], url[128];
	struct loop *loop;
	struct disk clean, faulty;
	struct genmap *map;
	struct verify *v;
	struct verify_io vio;
	uint32_t lows[BLOCKS];
	struct io io;
	void *buf;
	struct rng rng;
};

static const struct initiator_opts opts = {.connect_timeout_ns = 1000000000,
					   .command_timeout_ns = 1000000000};

static void on_open(void *user, const struct lun *lun, const struct err *e)
{
	(void)e;
	((struct disk *)user)->is_open = lun;
}

static void on_io(void *user, struct io *io)
{
	(void)io;
	((struct disk *)user)->is_done = true;
}

static void on_lost(void *user, const struct err *e)
{
	(void)user;
	(void)e;
}

static void on_closed(void *user)
{
	((struct disk *)user)->is_closed = true;
}

static const struct conn_events events = {
	.on_open = on_open,
	.on_io = on_io,
	.on_lost = on_lost,
	.on_closed = on_closed,
};

static void open_disk(struct bench *b, struct disk *d, const char *url)
{
	struct conn_setup s = {.loop = b->loop,
			       .url = &d->url,
			       .opts = &opts,
			       .depth = 1,
			       .events = &events,
			       .user = d};
	struct err e;

	CU_ASSERT_EQUAL_FATAL(url_parse(&d->url, url, true, NULL, &e), 0);
	d->transport = transport_find(d->url.scheme, &e);
	CU_ASSERT_EQUAL_FATAL(d->transport->open(&d->conn, &s, &e), 0);
	while (!d->is_open)
		loop_turn(b->loop, 1000000);
}

static void close_disk(struct bench *b, struct disk *d)
{
	d->transport->close(d->conn);
	while (!d->is_closed)
		loop_turn(b->loop, 1000000);
}

static void bench_begin(struct bench *b, const char *faults)
{
	const struct genmap_shape shape = {.run = 1,
					   .blocks = BLOCKS,
					   .block_bytes = BLOCK,
					   .lun_blocks = BLOCKS};
	struct verify_setup setup = {.keep = 64};
	char url[200];
	int fd;

	memset(b, 0, sizeof(*b));
	strcpy(b->path, "/tmp/verify-test.XXXXXX");
	fd = mkstemp(b->path);
	CU_ASSERT_FATAL(fd >= 0 && !ftruncate(fd, BLOCKS * BLOCK));
	close(fd);
	rng_init(&b->rng, 11);
	CU_ASSERT_EQUAL_FATAL(loop_new(&b->loop, false, NULL), 0);
	snprintf(url, sizeof(url), "block:%s", b->path);
	open_disk(b, &b->clean, url);
	snprintf(url, sizeof(url), "fault:%s:block:%s", faults, b->path);
	open_disk(b, &b->faulty, url);
	genmap_create(&b->map, NULL, false, &shape, NULL);
	setup.map = b->map;
	verify_new(&b->v, &setup, NULL);
	b->buf = aligned_alloc(4096, BLOCKS * BLOCK);
	b->vio.lows = b->lows;
	b->vio.max_blocks = BLOCKS;
}

static void bench_end(struct bench *b)
{
	close_disk(b, &b->clean);
	close_disk(b, &b->faulty);
	loop_free(b->loop);
	verify_free(b->v);
	genmap_close(b->map);
	free(b->buf);
	unlink(b->path);
}

/* As session_io does it. */
static void transfer(struct bench *b, struct disk *d, enum io_op op,
		     uint64_t lba, uint32_t blocks)
{
	b->io = (struct io){.op = op,
			    .offset_bytes = lba * BLOCK,
			    .length_bytes = blocks * BLOCK,
			    .buf = b->buf};
	verify_begin(b->v, &b->vio, &b->io);
	do {
		d->is_done = false;
		CU_ASSERT_EQUAL_FATAL(d->transport->submit(d->conn, &b->io), 0);
		d->transport->kick(d->conn);
		while (!d->is_done)
			loop_turn(b->loop, 1000000);
		CU_ASSERT_EQUAL_FATAL(b->io.result, 0);
	} while (verify_end(b->v, &b->vio, &b->io));
}

/* What came in @kind since @before; @others: in all other broken kinds. */
static uint64_t came(struct bench *b, const struct verify_totals *before,
		     enum stamp_kind kind, uint64_t *others)
{
	struct verify_totals now;

	verify_totals(b->v, &now);
	*others = verify_broken(&now) - verify_broken(before) -
		  (now.blocks[kind] - before->blocks[kind]);
	return now.blocks[kind] - before->blocks[kind];
}

struct expected {
	enum stamp_kind kind;
	bool through_faulty;   /* the read meets the fault, too */
	uint32_t least_blocks; /* of the write */
	/* findings of a write of n blocks; of other kinds */
	uint32_t (*blocks)(uint32_t n);
	uint32_t (*others)(uint32_t n);
};

static uint32_t none(uint32_t n)
{
	return n * 0;
}

static uint32_t one(uint32_t n)
{
	return n * 0 + 1;
}

static uint32_t two(uint32_t n)
{
	return n * 0 + 2;
}

static uint32_t all(uint32_t n)
{
	return n;
}

static uint32_t second_half(uint32_t n)
{
	return n - n / 2;
}

static void run_kind(const char *name, const struct expected *x)
{
	uint64_t found, others, wrong = 0;
	struct verify_totals before;
	struct disk *reader;
	char faults[64];
	struct bench b;
	uint32_t n;
	int i;

	snprintf(faults, sizeof(faults), "%s=1", name);
	bench_begin(&b, faults);
	reader = x->through_faulty ? &b.faulty : &b.clean;
	for (i = 0; i < ROUNDS; i++) {
		/* All blocks new, and right. */
		transfer(&b, &b.clean, OP_WRITE, 0, BLOCKS);
		verify_totals(b.v, &before);
		n = x->least_blocks + rng_below(&b.rng, LARGEST);
		transfer(&b, &b.faulty, OP_WRITE,
			 rng_below(&b.rng, BLOCKS - n + 1), n);
		transfer(&b, reader, OP_READ, 0, BLOCKS);
		found = came(&b, &before, x->kind, &others);
		if (found == x->blocks(n) && others == x->others(n))
			continue;
		if (!wrong++)
			printf("# %s, round %d, %u blocks: %llu found, %llu "
			       "others\n",
			       name, i, n, (unsigned long long)found,
			       (unsigned long long)others);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	bench_end(&b);
}

#define KIND(name, ...)                                                 \
	static void test_##name(void)                                   \
	{                                                               \
		run_kind(#name, &(const struct expected){__VA_ARGS__}); \
	}

KIND(flip, STAMP_ROTTEN, false, 1, one, none)
KIND(lost, STAMP_LOST, false, 1, all, none)
KIND(swap, STAMP_MISDIRECTED, false, 2, two, none)
KIND(tear, STAMP_TORN, false, 2, second_half, none)
KIND(misdirect, STAMP_MISDIRECTED, false, 1, all, all)
KIND(duplicate, STAMP_MISDIRECTED, false, 1, all, none)
KIND(zero, STAMP_ZEROED, false, 1, all, none)
KIND(stale, STAMP_STALE, true, 1, all, none)

static void test_clean(void)
{
	struct verify_totals t;
	struct bench b;
	uint32_t n, i;

	bench_begin(&b, "seed=1");
	for (i = 0; i < 5 * ROUNDS; i++) {
		n = 1 + rng_below(&b.rng, LARGEST);
		transfer(&b, &b.faulty, i & 1 ? OP_READ : OP_WRITE,
			 rng_below(&b.rng, BLOCKS - n + 1), n);
	}
	verify_totals(b.v, &t);
	CU_ASSERT_EQUAL(verify_broken(&t), 0);
	CU_ASSERT_EQUAL(t.second_reads, 0);
	CU_ASSERT_TRUE(t.blocks[STAMP_OK] > 1000);
	bench_end(&b);
}

/* A write that failed: old or new, and no finding. */
static void test_unknown(void)
{
	struct verify_totals t;
	struct bench b;
	int i;

	bench_begin(&b, "seed=1");
	for (i = 0; i < 100; i++) {
		transfer(&b, &b.clean, OP_WRITE, 0, BLOCKS);
		b.io = (struct io){.op = OP_WRITE,
				   .offset_bytes = 8 * BLOCK,
				   .length_bytes = 8 * BLOCK,
				   .buf = b.buf};
		verify_begin(b.v, &b.vio, &b.io);
		if (i & 1) { /* half of it reached the disk all the same */
			int fd = open(b.path, O_WRONLY);

			CU_ASSERT_EQUAL(pwrite(fd, b.buf, 4 * BLOCK, 8 * BLOCK),
					4 * BLOCK);
			close(fd);
		}
		verify_failed(b.v, &b.vio, &b.io);
		transfer(&b, &b.clean, OP_READ, 0, BLOCKS);
	}
	verify_totals(b.v, &t);
	CU_ASSERT_EQUAL(t.failed_writes, 100);
	CU_ASSERT_EQUAL(verify_broken(&t), 0);
	bench_end(&b);
}

/* A read that was sent before a write and answered behind it may give either.
 */
static void test_raced(void)
{
	struct verify_io write = {.generation = 0};
	struct verify_totals t;
	struct io io;
	struct bench b;
	uint8_t *data;

	bench_begin(&b, "seed=1");
	transfer(&b, &b.clean, OP_WRITE, 0, BLOCKS);
	b.io = (struct io){
		.op = OP_READ, .length_bytes = BLOCKS * BLOCK, .buf = b.buf};
	memset(b.buf, 0, BLOCKS * BLOCK);
	data = aligned_alloc(4096, 4 * BLOCK < 4096 ? 4096 : 4 * BLOCK);
	io = (struct io){.op = OP_WRITE,
			 .offset_bytes = 4 * BLOCK,
			 .length_bytes = 4 * BLOCK,
			 .buf = data};
	verify_begin(b.v, &b.vio, &b.io);
	verify_begin(b.v, &write, &io);
	CU_ASSERT_FALSE(verify_may_send(b.v, OP_WRITE, 0, 5 * BLOCK));
	CU_ASSERT_TRUE(verify_may_send(b.v, OP_WRITE, 0, 4 * BLOCK));
	CU_ASSERT_TRUE(verify_may_send(b.v, OP_READ, 0, 5 * BLOCK));
	/* The read gives the whole disk, block 5 in pieces. */
	for (int i = 0; i < BLOCKS; i++)
		stamp_write(
			(uint8_t *)b.buf + i * BLOCK, BLOCK,
			&(struct stamp){.run = 1, .lba = i, .generation = 1});
	memcpy((uint8_t *)b.buf + 5 * BLOCK, data + BLOCK, 200);
	verify_end(b.v, &write, &io);
	CU_ASSERT_TRUE(verify_end(b.v, &b.vio, &b.io));
	/* Again, and it is there. */
	for (uint64_t i = 0; i < b.io.length_bytes / BLOCK; i++)
		stamp_write(
			(uint8_t *)b.buf + i * BLOCK, BLOCK,
			&(struct stamp){.run = 1,
					.lba = b.io.offset_bytes / BLOCK + i,
					.generation = 2});
	CU_ASSERT_FALSE(verify_end(b.v, &b.vio, &b.io));
	verify_totals(b.v, &t);
	CU_ASSERT_EQUAL(verify_broken(&t), 0);
	CU_ASSERT_EQUAL(t.raced, 1);
	CU_ASSERT_EQUAL(b.io.length_bytes, BLOCKS * BLOCK);
	free(data);
	bench_end(&b);
}

UNIT_TESTS("verify", {"1000 bits flip", test_flip},
	   {"1000 writes are lost", test_lost},
	   {"1000 swaps of blocks", test_swap},
	   {"1000 writes are torn", test_tear},
	   {"1000 writes go astray", test_misdirect},
	   {"1000 writes are done twice", test_duplicate},
	   {"1000 writes of zeros", test_zero},
	   {"1000 stale reads", test_stale},
	   {"nothing is found where nothing is wrong", test_clean},
	   {"a write that failed is unknown", test_unknown},
	   {"a read that meets a write is forgiven", test_raced})
