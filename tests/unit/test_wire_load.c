#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/rng.h"
#include "initiator/transport.h"
#include "tests/unit/cut.h"
#include "tests/unit/unit.h"

/*
 * A deep session of random writes and reads whose buffers are spoilt as soon
 * as they are given back: what the target keeps, and what comes from it, must
 * be what was written all the same.
 */
enum { DEPTH = 128, REGION = 512 << 10, BLOCK = 512, DEADLINE_S = 60 };

struct worker { /* an io, and a region of the LUN that only it writes */
	struct io io;
	struct load *load;
	uint8_t *buf;
	uint32_t written[REGION / BLOCK]; /* a number for each block */
};

struct load {
	struct url url;
	struct initiator_opts opts;
	struct loop *loop;
	const struct transport *transport;
	struct conn *conn;
	struct rng rng;
	bool is_open, is_lost, is_closed;
	unsigned int outstanding, left, bad;
	uint32_t counter;
	size_t most_bytes;
	struct loop_task kick;
	struct worker workers[DEPTH];
	struct err e;
};

static pid_t target = -1;

static void stop_target(void)
{
	if (target > 0) {
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
	}
	target = -1;
}

static void start_target(struct url *url, const char *const *lines)
{
	char self[512] = "", path[600], text[160];
	const char *argv[20] = {path, "size=64M"};
	unsigned int port = 0, n = 2;
	struct err e;
	int fd[2];
	FILE *in;

	CU_ASSERT_TRUE_FATAL(readlink("/proc/self/exe", self, 500) > 0);
	snprintf(path, sizeof(path), "%s/../target/instant_target",
		 dirname(self));
	while (*lines)
		argv[n++] = *lines++;
	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	fflush(stdout);
	target = fork();
	if (!target) {
		dup2(fd[1], 1);
		close(fd[0]);
		close(fd[1]);
		execv(path, (char **)argv);
		_exit(127);
	}
	close(fd[1]);
	in = fdopen(fd[0], "r");
	CU_ASSERT_EQUAL_FATAL(fscanf(in, "%u", &port), 1);
	fclose(in);
	snprintf(text, sizeof(text),
		 "iscsi://127.0.0.1:%u/iqn.2026-11.lb:instant/1", port);
	CU_ASSERT_EQUAL_FATAL(url_parse(url, text, true, NULL, &e), 0);
}

static void fill_block(uint8_t *p, uint32_t region, uint32_t block,
		       uint32_t number)
{
	uint32_t words[BLOCK / 4];

	for (uint32_t i = 0; i < BLOCK / 4; i++)
		words[i] = number ? number * 2654435761u + region * 40503u +
					    block * 977 + i
				  : 0;
	memcpy(p, words, BLOCK);
}

/* A write of new numbers, or a read. */
static void submit(struct load *l, struct worker *w)
{
	uint32_t region = w - l->workers, n, at;

	n = rng_below(&l->rng, l->most_bytes / BLOCK) + 1;
	if (rng_below(&l->rng, 3)) /* small ones are more */
		n = n % 16 + 1;
	at = rng_below(&l->rng, REGION / BLOCK - n + 1);
	w->io = (struct io){
		.op = rng_below(&l->rng, 2) ? OP_WRITE : OP_READ,
		.offset_bytes = (uint64_t)region * REGION + at * BLOCK,
		.length_bytes = n * BLOCK,
		.buf = w->buf,
	};
	for (uint32_t i = at; w->io.op == OP_WRITE && i < at + n; i++)
		fill_block(w->buf + (i - at) * BLOCK, region, i,
			   l->counter + i);
	if (l->transport->submit(l->conn, &w->io))
		return;
	l->outstanding++;
	l->left--;
	loop_defer(l->loop, &l->kick);
	if (w->io.op == OP_WRITE)
		for (uint32_t i = at; i < at + n; i++)
			w->written[i] = l->counter + i;
	l->counter += 4096;
}

static void check_read(struct load *l, struct worker *w)
{
	uint32_t region = w - l->workers, at = w->io.offset_bytes % REGION;
	uint8_t want[BLOCK];

	for (uint32_t i = 0; i < w->io.length_bytes; i += BLOCK) {
		uint32_t block = (at + i) / BLOCK;

		fill_block(want, region, block, w->written[block]);
		l->bad += memcmp(want, w->buf + i, BLOCK) != 0;
	}
}

static void on_open(void *user, const struct lun *lun, const struct err *e)
{
	struct load *l = user;

	l->is_open = lun;
	l->is_lost = !lun;
	if (e)
		l->e = *e;
}

/* What a refused write has left there is unknown: the same once more. */
static void write_again(struct load *l, struct worker *w)
{
	uint32_t region = w - l->workers;
	uint32_t at = w->io.offset_bytes % REGION / BLOCK;

	for (uint32_t i = 0; i < w->io.length_bytes / BLOCK; i++)
		fill_block(w->buf + i * BLOCK, region, at + i,
			   w->written[at + i]);
	if (l->transport->submit(l->conn, &w->io))
		return;
	l->outstanding++;
	loop_defer(l->loop, &l->kick);
}

static void on_io(void *user, struct io *io)
{
	struct load *l = user;
	struct worker *w = (void *)((char *)io - offsetof(struct worker, io));

	l->outstanding--;
	if (io->result == -ECANCELED)
		return;
	if (io->op == OP_READ && !io->result)
		check_read(l, w);
	memset(w->buf, 0xee, io->length_bytes);
	if (io->op == OP_WRITE && io->result)
		write_again(l, w);
	else if (l->left)
		submit(l, w);
}

static void on_lost(void *user, const struct err *e)
{
	struct load *l = user;

	l->is_lost = true;
	l->e = *e;
}

static void on_closed(void *user)
{
	((struct load *)user)->is_closed = true;
}

static const struct conn_events events = {
	.on_open = on_open,
	.on_io = on_io,
	.on_lost = on_lost,
	.on_closed = on_closed,
};

static void on_kick(struct loop_task *t)
{
	struct load *l = (void *)((char *)t - offsetof(struct load, kick));

	l->transport->kick(l->conn);
}

static bool is_settled(const struct load *l)
{
	return l->is_open || l->is_lost;
}

static bool is_done(const struct load *l)
{
	return !l->outstanding || l->is_lost;
}

static bool is_closed(const struct load *l)
{
	return l->is_closed;
}

static void turn_until(struct load *l, bool (*is_so)(const struct load *l))
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_S * NS_PER_SEC;

	while (!is_so(l) && clock_now_ns() < until_ns)
		loop_turn(l->loop, 10 * NS_PER_MSEC);
	CU_ASSERT_TRUE_FATAL(is_so(l));
}

static void open_load(struct load *l)
{
	struct conn_setup setup = {
		.url = &l->url,
		.opts = &l->opts,
		.depth = DEPTH,
		.events = &events,
		.user = l,
	};

	l->opts.connect_timeout_ns = 10 * NS_PER_SEC;
	l->opts.command_timeout_ns = DEADLINE_S * NS_PER_SEC;
	l->transport = &transport_iscsi;
	l->kick.on_task = on_kick;
	l->counter = 1; /* 0: never written */
	rng_init(&l->rng, 7);
	for (unsigned int i = 0; i < DEPTH; i++) {
		l->workers[i].buf = malloc(REGION);
		CU_ASSERT_PTR_NOT_NULL_FATAL(l->workers[i].buf);
	}
	CU_ASSERT_EQUAL_FATAL(loop_new(&l->loop, false, &l->e), 0);
	setup.loop = l->loop;
	CU_ASSERT_EQUAL_FATAL(l->transport->open(&l->conn, &setup, &l->e), 0);
	turn_until(l, is_settled);
	CU_ASSERT_TRUE_FATAL(l->is_open);
}

static void close_load(struct load *l)
{
	l->transport->close(l->conn);
	turn_until(l, is_closed);
	CU_ASSERT_EQUAL(l->outstanding, 0);
	loop_free(l->loop);
	for (unsigned int i = 0; i < DEPTH; i++)
		free(l->workers[i].buf);
}

/* The system's calls take no more than @most_in and @most_out bytes, if these
 * are not 0. */
static void run_load(const char *const *lines, unsigned int ios,
		     size_t most_bytes, size_t most_in, size_t most_out)
{
	struct load *l = calloc(1, sizeof(*l));

	CU_ASSERT_PTR_NOT_NULL_FATAL(l);
	start_target(&l->url, lines);
	cut_set(&cut_in, 0, CUT_NOT);
	cut_set(&cut_out, 0, CUT_NOT);
	l->left = ios;
	l->most_bytes = most_bytes;
	open_load(l);
	cut_in.most = most_in;
	cut_out.most = most_out;
	for (unsigned int i = 0; i < DEPTH; i++)
		submit(l, &l->workers[i]);
	turn_until(l, is_done);
	CU_ASSERT_FALSE(l->is_lost);
	CU_ASSERT_EQUAL(l->left, 0);
	CU_ASSERT_EQUAL(l->bad, 0);
	close_load(l);
	free(l);
	stop_target();
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_plain_load(void)
{
	run_load(LINES("window=128"), 4000, 512 << 10, 0, 0);
}

static void test_small_sockets(void)
{
	run_load(LINES("rcvbuf=4096", "sndbuf=4096"), 1500, 256 << 10, 0, 0);
}

static void test_small_segments(void)
{
	run_load(LINES("MaxRecvDataSegmentLength=512", "MaxBurstLength=4096",
		       "FirstBurstLength=1024", "r2t=1536"),
		 1500, 128 << 10, 0, 0);
	run_load(LINES("MaxRecvDataSegmentLength=512", "InitialR2T=Yes",
		       "ImmediateData=No", "window=8"),
		 1500, 128 << 10, 0, 0);
}

static void test_crumbs(void)
{
	run_load(LINES("InitialR2T=Yes"), 2000, 64 << 10, 1000, 777);
	run_load(LINES("InitialR2T=Yes", "rcvbuf=8192"), 2000, 64 << 10, 0,
		 5000);
}

static void test_refused(void)
{
	run_load(LINES("rule write every=7 busy", "rule read every=11 medium",
		       "rule write every=5 full", "rcvbuf=8192"),
		 3000, 256 << 10, 0, 0);
	run_load(LINES("rule write every=7 busy", "rule read every=11 medium",
		       "rule io every=13 delay=3ms", "InitialR2T=Yes"),
		 3000, 256 << 10, 0, 3000);
}

static void test_pings(void)
{
	run_load(LINES("rule io every=3 ping", "rule read every=5 delay=1ms"),
		 3000, 64 << 10, 0, 0);
}

UNIT_TESTS("wire load", {"as it comes", test_plain_load},
	   {"small sockets", test_small_sockets},
	   {"small segments", test_small_segments}, {"crumbs", test_crumbs},
	   {"refused", test_refused}, {"pings", test_pings})
