/*
 * Drives a transport by hand, for the functional tests:
 *
 *	iscsi_aid probe URL
 *	iscsi_aid read URL OFFSET LENGTH          the data to stdout
 *	iscsi_aid write URL OFFSET LENGTH BYTE
 *	iscsi_aid trim URL OFFSET LENGTH
 *	iscsi_aid flush URL
 *	iscsi_aid idle URL SECONDS                open, wait, read a block
 *	iscsi_aid lose URL       read until the session is lost, then insist
 *	iscsi_aid perf URL read|write BLOCK DEPTH SECONDS
 *	iscsi_aid discover URL
 *	iscsi_aid guard URL
 *
 * AID_HEADER_DIGEST, AID_DATA_DIGEST, AID_IMMEDIATE_DATA, AID_INITIAL_R2T,
 * AID_PLAIN_WIRE: yes or no. AID_TIMEOUT_MS: 5000. AID_NAME: the initiator's
 *name. AID_PIECE: bytes in one io (all). Exit status: 0, 1 for a failed io, 3
 *when there is no session.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "initiator/discover.h"
#include "initiator/guard.h"
#include "initiator/transport.h"

enum { DEPTH_MAX = 1024 };

struct aid {
	struct loop *loop;
	struct conn *conn;
	const struct transport *transport;
	struct url url;
	struct initiator_opts opts;
	struct lun lun;
	bool is_open, has_failed, is_lost, is_closed;
	struct err error;
	unsigned int outstanding, bad;
	/* perf */
	struct io io[DEPTH_MAX];
	unsigned int depth;
	uint64_t end_ns, ios, seed;
	bool keeps_going;
};

static void submit_random(struct aid *a, struct io *io)
{
	uint64_t slots = lun_bytes(&a->lun) / io->length_bytes;

	if (slots > 16384)
		slots = 16384;
	a->seed = a->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	io->offset_bytes = (a->seed >> 33) % slots * io->length_bytes;
	if (a->transport->submit(a->conn, io) == 0)
		a->outstanding++;
}

static void on_open(void *user, const struct lun *lun, const struct err *e)
{
	struct aid *a = user;

	a->is_open = lun;
	a->has_failed = !lun;
	if (lun)
		a->lun = *lun;
	else
		a->error = *e;
}

static void on_io(void *user, struct io *io)
{
	struct aid *a = user;
	char text[200];

	a->outstanding--;
	if (io->result) {
		a->bad++;
		if (a->bad < 5)
			fprintf(stderr, "io at %llu: %d %s\n",
				(unsigned long long)io->offset_bytes,
				io->result,
				transport_describe_detail(io, text,
							  sizeof(text)));
		return;
	}
	a->ios++;
	if (a->keeps_going && clock_now_ns() < a->end_ns)
		submit_random(a, io);
}

static void on_lost(void *user, const struct err *e)
{
	struct aid *a = user;

	if (a->is_lost)
		abort();
	a->is_lost = true;
	a->error = *e;
}

static void on_closed(void *user)
{
	struct aid *a = user;

	if (a->is_closed || a->outstanding)
		abort();
	a->is_closed = true;
}

static const struct conn_events events = {
	.on_open = on_open,
	.on_io = on_io,
	.on_lost = on_lost,
	.on_closed = on_closed,
};

static enum tristate ask(const char *name)
{
	const char *value = getenv(name);

	if (!value)
		return ASK_DEFAULT;
	return strcmp(value, "yes") == 0 ? ASK_YES : ASK_NO;
}

static int die(const char *text)
{
	fprintf(stderr, "%s\n", text);
	return 3;
}

/* Turns the loop until @done() or the time is over. */
static bool turn_until(struct aid *a, bool (*is_done)(struct aid *a),
		       uint64_t for_ns)
{
	uint64_t end = loop_now_ns(a->loop) + for_ns;

	while (!is_done(a)) {
		uint64_t now = loop_now_ns(a->loop);

		if (now >= end)
			return false;
		loop_turn(a->loop, end - now);
	}
	return true;
}

static bool is_answered(struct aid *a)
{
	return a->is_open || a->has_failed || a->is_lost;
}

static bool is_idle(struct aid *a)
{
	return !a->outstanding || a->is_lost;
}

static bool is_lost(struct aid *a)
{
	return a->is_lost;
}

static bool is_closed(struct aid *a)
{
	return a->is_closed;
}

static bool never(struct aid *a)
{
	(void)a;
	return false;
}

static int open_conn(struct aid *a, unsigned int depth)
{
	struct conn_setup s = {.loop = a->loop,
			       .url = &a->url,
			       .opts = &a->opts,
			       .depth = depth,
			       .events = &events,
			       .user = a};

	if (a->transport->open(&a->conn, &s, &a->error))
		return die(a->error.text);
	if (!turn_until(a, is_answered, a->opts.connect_timeout_ns))
		return die(a->transport->stage(a->conn));
	if (!a->is_open)
		return die(a->error.text);
	return 0;
}

static int close_conn(struct aid *a)
{
	a->transport->close(a->conn);
	if (!turn_until(a, is_closed, 3 * NS_PER_SEC))
		return die("no on_closed");
	return 0;
}

static void emit(void *user, const char *key, const char *value)
{
	(void)user;
	printf("%s=%s\n", key, value);
}

static int probe(struct aid *a)
{
	const struct lun *l = &a->lun;

	printf("blocks=%llu\nblock=%u\nphysical=%u\nmax_transfer=%u\n"
	       "max_unmap=%u\ndescriptors=%u\ngranularity=%u\ncan_unmap=%d\n"
	       "zeroes=%d\nthin=%d\nread_only=%d\ncache=%d\ncache_known=%d\n"
	       "vendor=%s\nproduct=%s\nrevision=%s\nserial=%s\nnaa=%s\n",
	       (unsigned long long)l->blocks, l->block_bytes,
	       l->physical_block_bytes, l->max_transfer_blocks,
	       l->max_unmap_blocks, l->max_unmap_descriptors,
	       l->unmap_granularity_blocks, l->can_unmap, l->unmap_zeroes,
	       l->is_thin, l->is_read_only, l->write_cache,
	       l->write_cache_known, l->vendor, l->product, l->revision,
	       l->serial, l->naa);
	a->transport->describe(a->conn, emit, NULL);
	return 0;
}

static int one_io(struct aid *a, enum io_op op, uint64_t offset,
		  uint32_t length, unsigned int byte)
{
	const char *piece_text = getenv("AID_PIECE");
	uint32_t piece = piece_text ? (uint32_t)atoi(piece_text) : length;
	char *buf = length && op != OP_TRIM ? malloc(length) : NULL;
	unsigned int n = 0;
	int ret;

	if (buf)
		memset(buf, op == OP_WRITE ? byte : 0xee, length);
	do {
		struct io *io = &a->io[n];
		uint32_t at = n * piece;

		io->op = op;
		io->offset_bytes = offset + at;
		io->length_bytes = length - at < piece ? length - at : piece;
		io->buf = buf ? buf + at : NULL;
		ret = a->transport->submit(a->conn, io);
		if (ret) {
			fprintf(stderr, "submit: %s\n", strerror(-ret));
			free(buf);
			return 1;
		}
		a->outstanding++;
		n++;
	} while ((uint64_t)n * piece < length);
	a->transport->kick(a->conn);
	if (!turn_until(a, is_idle, 20 * NS_PER_SEC))
		fprintf(stderr, "no answer\n");
	if (a->is_lost)
		fprintf(stderr, "%s\n", a->error.text);
	if (op == OP_READ && !a->outstanding && !a->bad)
		fwrite(buf, 1, length, stdout);
	ret = a->bad || a->outstanding;
	close_conn(a); /* only now may the buffer go */
	a->conn = NULL;
	free(buf);
	return ret;
}

/* Until the session is lost; then one more command, as CASES 3 has it. */
static int lose(struct aid *a)
{
	static char buf[8][4096];
	struct io late = {.op = OP_READ, .length_bytes = 4096, .buf = buf[0]};
	int ret;

	for (unsigned int i = 0; i < 8; i++) {
		a->io[i].op = i & 1 ? OP_WRITE : OP_READ;
		a->io[i].length_bytes = 4096;
		a->io[i].buf = buf[i];
		if (a->transport->submit(a->conn, &a->io[i]))
			return 1;
		a->outstanding++;
	}
	a->transport->kick(a->conn);
	printf("waiting\n");
	fflush(stdout);
	if (!turn_until(a, is_lost, 20 * NS_PER_SEC))
		return die("not lost");
	printf("%d %s\n", a->error.code, a->error.text);
	ret = a->transport->submit(a->conn, &late);
	printf("submit %s\n", strerror(-ret));
	a->transport->kick(a->conn);
	turn_until(a, never, 100 * NS_PER_MSEC);
	close_conn(a);
	printf("closed, %u cancelled\n", a->bad);
	a->conn = NULL;
	return 0;
}

static int perf(struct aid *a, const char *op, uint32_t block, double seconds)
{
	char *buf = aligned_alloc(4096, (size_t)block * a->depth);
	uint64_t start = clock_now_ns(), user, system, user0, system0;
	double ran;

	memset(buf, 0x5a, (size_t)block * a->depth);
	clock_thread_cpu_ns(&user0, &system0);
	a->keeps_going = true;
	a->end_ns = start + seconds * 1e9;
	for (unsigned int i = 0; i < a->depth; i++) {
		a->io[i].op = strcmp(op, "read") ? OP_WRITE : OP_READ;
		a->io[i].length_bytes = block;
		a->io[i].buf = buf + (size_t)i * block;
		submit_random(a, &a->io[i]);
	}
	while (a->outstanding && !a->is_lost) {
		a->transport->kick(a->conn);
		loop_turn(a->loop, NS_PER_SEC);
	}
	ran = (clock_now_ns() - start) / 1e9;
	clock_thread_cpu_ns(&user, &system);
	printf("%.0f IOPS, %.2f us CPU per I/O (%.2f user)\n", a->ios / ran,
	       (user + system - user0 - system0) / 1e3 / a->ios,
	       (user - user0) / 1e3 / a->ios);
	free(buf);
	return a->bad != 0;
}

static int list(struct aid *a)
{
	struct discovery d;

	if (discover(&d, &a->url, &a->opts, NULL, NULL, &a->error)) {
		discovery_release(&d);
		return die(a->error.text);
	}
	for (size_t i = 0; i < d.nr_targets; i++) {
		struct found_target *t = &d.targets[i];

		printf("target %s %zu LUNs %s\n", t->name, t->nr_luns,
		       t->problem);
		for (size_t p = 0; p < t->nr_portals; p++)
			printf("portal %s\n", t->portals[p]);
		for (size_t l = 0; l < t->nr_luns; l++)
			printf("lun %u type %02x %llu x %u %s\n",
			       t->luns[l].lun, t->luns[l].device_type,
			       (unsigned long long)t->luns[l].info.blocks,
			       t->luns[l].info.block_bytes, t->luns[l].problem);
	}
	discovery_release(&d);
	return 0;
}

static int guard(struct aid *a)
{
	char found[256];
	bool all_zero;

	if (transport_probe(&a->url, &a->opts, &a->lun, NULL, &a->error) ||
	    guard_inspect(&a->url, &a->opts, &a->lun, found, sizeof(found),
			  &all_zero, &a->error))
		return die(a->error.text);
	printf("found \"%s\"%s\n", found, all_zero ? ", all zero" : "");
	return 0;
}

static uint64_t number(char *const *argv, int i)
{
	return argv[i] ? strtoull(argv[i], NULL, 0) : 0;
}

static int act(struct aid *a, char *const *argv)
{
	const char *what = argv[1];

	if (strcmp(what, "probe") == 0)
		return probe(a);
	if (strcmp(what, "read") == 0)
		return one_io(a, OP_READ, number(argv, 3), number(argv, 4), 0);
	if (strcmp(what, "write") == 0)
		return one_io(a, OP_WRITE, number(argv, 3), number(argv, 4),
			      number(argv, 5));
	if (strcmp(what, "trim") == 0)
		return one_io(a, OP_TRIM, number(argv, 3), number(argv, 4), 0);
	if (strcmp(what, "flush") == 0)
		return one_io(a, OP_FLUSH, 0, 0, 0);
	if (strcmp(what, "lose") == 0)
		return lose(a);
	if (strcmp(what, "idle") == 0) {
		turn_until(a, is_lost, number(argv, 3) * NS_PER_SEC);
		if (a->is_lost)
			return die(a->error.text);
		return one_io(a, OP_READ, 0, a->lun.block_bytes, 0);
	}
	return perf(a, argv[3], number(argv, 4), strtod(argv[6], NULL));
}

static int run(struct aid *a, int argc, char **argv)
{
	bool is_discover = strcmp(argv[1], "discover") == 0;
	int ret;

	if (url_parse(&a->url, argv[2], !is_discover, NULL, &a->error))
		return die(a->error.text);
	if (is_discover)
		return list(a);
	if (strcmp(argv[1], "guard") == 0)
		return guard(a);
	a->transport = transport_find(a->url.scheme, &a->error);
	if (!a->transport || loop_new(&a->loop, false, &a->error))
		return die(a->error.text);
	a->depth = argc > 6 ? number(argv, 5) : 64;
	ret = open_conn(a, a->depth);
	if (!ret)
		ret = act(a, argv);
	if (a->conn && close_conn(a) && !ret)
		ret = 3;
	loop_free(a->loop);
	return ret;
}

int main(int argc, char **argv)
{
	static struct aid a;
	const char *ms = getenv("AID_TIMEOUT_MS"), *name = getenv("AID_NAME");

	if (argc < 3)
		return die("usage: iscsi_aid WHAT URL ...");
	a.opts.connect_timeout_ns = (ms ? atoi(ms) : 5000) * NS_PER_MSEC;
	a.opts.command_timeout_ns = a.opts.connect_timeout_ns;
	a.opts.header_digest = ask("AID_HEADER_DIGEST");
	a.opts.data_digest = ask("AID_DATA_DIGEST");
	a.opts.immediate_data = ask("AID_IMMEDIATE_DATA");
	a.opts.initial_r2t = ask("AID_INITIAL_R2T");
	a.opts.plain_wire = ask("AID_PLAIN_WIRE") == ASK_YES;
	if (name)
		snprintf(a.opts.initiator_name, sizeof(a.opts.initiator_name),
			 "%s", name);
	return run(&a, argc, argv);
}
