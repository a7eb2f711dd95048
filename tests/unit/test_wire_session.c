#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "initiator/transport.h"
#include "tests/unit/cut.h"
#include "tests/unit/unit.h"

/*
 * Whole sessions, libiscsi and all, over the wire and its instant target, with
 * the wire's system calls cut at every byte of them.
 */
enum { DEPTH = 8, DEADLINE_S = 20 };

struct session {
	struct url url;
	struct initiator_opts opts;
	struct loop *loop;
	const struct transport *transport;
	struct conn *conn;
	bool is_open, has_failed, is_lost, is_closed;
	unsigned int outstanding, bad, cancelled;
	struct err e;
	struct io io[DEPTH];
	char buf[DEPTH][32768];
};

/* --- the target --- */

static pid_t target = -1;

static void stop_target(void)
{
	if (target > 0) {
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
	}
	target = -1;
}

/* Beside the folder of this program: build/gcc/tests/target. */
static void start_target(struct url *url, const char *rule)
{
	char self[512] = "", path[600], text[160];
	const char *name = "iqn.2026-11.lb:instant";
	unsigned int port = 0;
	struct err e;
	int fd[2];
	FILE *in;

	stop_target();
	CU_ASSERT_TRUE_FATAL(readlink("/proc/self/exe", self, 500) > 0);
	snprintf(path, sizeof(path), "%s/../target/instant_target",
		 dirname(self));
	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	fflush(stdout);
	target = fork();
	if (!target) {
		dup2(fd[1], 1);
		close(fd[0]);
		close(fd[1]);
		execl(path, path, "size=1M", "MaxRecvDataSegmentLength=2048",
		      "MaxBurstLength=65536", "FirstBurstLength=4096", rule,
		      NULL);
		_exit(127);
	}
	close(fd[1]);
	in = fdopen(fd[0], "r");
	CU_ASSERT_EQUAL_FATAL(fscanf(in, "%u", &port), 1);
	fclose(in);
	snprintf(text, sizeof(text), "iscsi://127.0.0.1:%u/%s/1", port, name);
	CU_ASSERT_EQUAL_FATAL(url_parse(url, text, true, NULL, &e), 0);
}

/* --- a session --- */

static void on_open(void *user, const struct lun *lun, const struct err *e)
{
	struct session *s = user;

	s->is_open = lun;
	s->has_failed = !lun;
	if (e)
		s->e = *e;
}

static void on_io(void *user, struct io *io)
{
	struct session *s = user;

	s->outstanding--;
	s->cancelled += io->result == -ECANCELED;
	s->bad += io->result && io->result != -ECANCELED;
}

static void on_lost(void *user, const struct err *e)
{
	struct session *s = user;

	s->is_lost = true;
	s->e = *e;
}

static void on_closed(void *user)
{
	((struct session *)user)->is_closed = true;
}

static const struct conn_events events = {
	.on_open = on_open,
	.on_io = on_io,
	.on_lost = on_lost,
	.on_closed = on_closed,
};

static void turn_until(struct session *s, bool (*is_so)(struct session *s))
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_S * NS_PER_SEC;

	while (!is_so(s) && clock_now_ns() < until_ns)
		loop_turn(s->loop, 10 * NS_PER_MSEC);
	CU_ASSERT_TRUE_FATAL(is_so(s));
}

static bool is_settled(struct session *s)
{
	return s->is_open || s->has_failed;
}

static bool is_idle(struct session *s)
{
	return !s->outstanding || s->is_lost;
}

static bool is_closed(struct session *s)
{
	return s->is_closed;
}

static void open_session(struct session *s)
{
	struct conn_setup setup = {
		.url = &s->url,
		.opts = &s->opts,
		.depth = DEPTH,
		.events = &events,
		.user = s,
	};

	s->is_open = s->has_failed = s->is_lost = s->is_closed = false;
	s->outstanding = s->bad = s->cancelled = 0;
	s->opts.connect_timeout_ns = 10 * NS_PER_SEC;
	s->opts.command_timeout_ns = 10 * NS_PER_SEC;
	s->transport = &transport_iscsi;
	CU_ASSERT_EQUAL_FATAL(loop_new(&s->loop, false, &s->e), 0);
	setup.loop = s->loop;
	CU_ASSERT_EQUAL_FATAL(s->transport->open(&s->conn, &setup, &s->e), 0);
	turn_until(s, is_settled);
}

static void close_session(struct session *s)
{
	s->transport->close(s->conn);
	turn_until(s, is_closed);
	CU_ASSERT_EQUAL(s->outstanding, 0);
	loop_free(s->loop);
}

static void submit(struct session *s, unsigned int i, enum io_op op,
		   uint64_t offset, uint32_t bytes)
{
	s->io[i] = (struct io){.op = op,
			       .offset_bytes = offset,
			       .length_bytes = bytes,
			       .buf = s->buf[i]};
	if (!s->transport->submit(s->conn, &s->io[i]))
		s->outstanding++;
}

/* Writes with immediate, unsolicited and solicited data, then reads of them,
 * small and large. False when the session was lost. */
static bool exchange(struct session *s, unsigned int tag)
{
	static const uint32_t sizes[] = {512, 1536, 9216, 17408};

	for (unsigned int i = 0; i < 4; i++) {
		memset(s->buf[i], tag + i, sizes[i]);
		submit(s, i, OP_WRITE, i * 32768, sizes[i]);
	}
	s->transport->kick(s->conn);
	turn_until(s, is_idle);
	for (unsigned int i = 0; i < 4 && !s->is_lost; i++) {
		memset(s->buf[4 + i], 0, sizes[i]);
		submit(s, 4 + i, OP_READ, i * 32768, sizes[i]);
	}
	s->transport->kick(s->conn);
	turn_until(s, is_idle);
	if (s->is_lost)
		return false;
	CU_ASSERT_EQUAL(s->bad, 0);
	for (unsigned int i = 0; i < 4; i++)
		CU_ASSERT_EQUAL_FATAL(
			memcmp(s->buf[i], s->buf[4 + i], sizes[i]), 0);
	return true;
}

/* --- the tests --- */

/* What one exchange, and one opening, are on the wire. */
static void measure(struct session *s, uint64_t *open_in, uint64_t *open_out,
		    uint64_t *in, uint64_t *out)
{
	cut_set(&cut_in, 0, CUT_NOT);
	cut_set(&cut_out, 0, CUT_NOT);
	open_session(s);
	CU_ASSERT_TRUE_FATAL(s->is_open);
	*open_in = cut_in.bytes;
	*open_out = cut_out.bytes;
	CU_ASSERT_TRUE(exchange(s, 1));
	*in = cut_in.bytes - *open_in;
	*out = cut_out.bytes - *open_out;
	CU_ASSERT_TRUE(*in > 28672 && *out > 28672);
	close_session(s);
}

static struct session s;

static void test_cut_everywhere(void)
{
	uint64_t open_in, open_out, in, out, at;

	start_target(&s.url, "window=64");
	measure(&s, &open_in, &open_out, &in, &out);
	for (at = 0; at < open_in || at < open_out; at++) {
		cut_set(&cut_in, at, EAGAIN);
		cut_set(&cut_out, at, EAGAIN);
		open_session(&s);
		CU_ASSERT_TRUE_FATAL(s.is_open);
		if (at % 16 == 0)
			CU_ASSERT_TRUE(exchange(&s, at));
		close_session(&s);
	}
	cut_set(&cut_in, 0, CUT_NOT);
	cut_set(&cut_out, 0, CUT_NOT);
	open_session(&s);
	for (at = 0; at < in || at < out; at++) {
		cut_set(&cut_in, at, EAGAIN);
		cut_set(&cut_out, at, EAGAIN);
		CU_ASSERT_TRUE_FATAL(exchange(&s, at));
	}
	close_session(&s);
	stop_target();
}

static void test_crumbs(void)
{
	start_target(&s.url, "window=64");
	for (size_t most = 1; most < 50; most += 7) {
		cut_set(&cut_in, 0, CUT_NOT);
		cut_set(&cut_out, 0, CUT_NOT);
		cut_in.most = most;
		cut_out.most = most + 1;
		open_session(&s);
		CU_ASSERT_TRUE_FATAL(s.is_open);
		CU_ASSERT_TRUE(exchange(&s, most));
		close_session(&s);
	}
	stop_target();
}

/* An end or an error at any place is a failed opening or a lost session, with
 * every io given back. */
static void check_loss(struct cut *cut, uint64_t at, int then, const char *why)
{
	cut_set(&cut_in, 0, CUT_NOT);
	cut_set(&cut_out, 0, CUT_NOT);
	cut_set(cut, at, then);
	open_session(&s);
	if (s.is_open) {
		CU_ASSERT_FALSE(exchange(&s, at));
		CU_ASSERT_TRUE(s.is_lost);
	}
	CU_ASSERT_TRUE(s.e.code < 0 && s.e.text[0]);
	if (why && !strstr(s.e.text, why))
		printf("# %llu: %s\n", (unsigned long long)at, s.e.text);
	CU_ASSERT_TRUE(!why || strstr(s.e.text, why));
	close_session(&s);
}

static void test_lost_anywhere(void)
{
	uint64_t open_in, open_out, in, out, at;

	start_target(&s.url, "window=64");
	measure(&s, &open_in, &open_out, &in, &out);
	for (at = 0; at < open_in + in; at += at < open_in + 200 ? 7 : 97) {
		/* In a login, the socket itself is asked why; it is well. */
		check_loss(&cut_in, at, CUT_EOF, NULL);
		check_loss(&cut_in, at, ECONNRESET,
			   at < open_in ? NULL : "Connection reset");
	}
	for (at = 0; at < open_out + out; at += at < open_out + 200 ? 7 : 97)
		check_loss(&cut_out, at, EPIPE, "Broken pipe");
	stop_target();
}

/* The target's own ways to end it. */
static void test_target_drops(void)
{
	start_target(&s.url, "rule write every=3 drop");
	cut_set(&cut_in, 0, CUT_NOT);
	cut_set(&cut_out, 0, CUT_NOT);
	open_session(&s);
	CU_ASSERT_FALSE(exchange(&s, 1));
	close_session(&s);
	CU_ASSERT_EQUAL(s.bad, 0);
	start_target(&s.url, "rule read every=3 cut");
	open_session(&s);
	CU_ASSERT_FALSE(exchange(&s, 1));
	CU_ASSERT_PTR_NOT_NULL(strstr(s.e.text, "the target closed it"));
	close_session(&s);
	stop_target();
}

/* libiscsi stops reading when it waits for nothing more; the wire has read on.
 */
static void test_ping_after_the_last_answer(void)
{
	start_target(&s.url, "rule read ping");
	cut_set(&cut_in, 0, CUT_NOT);
	cut_set(&cut_out, 0, CUT_NOT);
	open_session(&s);
	cut_set(&cut_out, 0, CUT_NOT);
	submit(&s, 0, OP_READ, 0, 512);
	s.transport->kick(s.conn);
	turn_until(&s, is_idle);
	for (int i = 0; i < 100 && cut_out.bytes < 96; i++)
		loop_turn(s.loop, 10 * NS_PER_MSEC);
	CU_ASSERT_EQUAL(cut_out.bytes, 96); /* the command, the pong */
	close_session(&s);
	stop_target();
}

/* Closed with much of it still to be sent. */
static void test_closed_with_output(void)
{
	start_target(&s.url, "window=64");
	for (uint64_t at = 0; at < 10000; at += 401) {
		cut_set(&cut_in, 0, CUT_NOT);
		cut_set(&cut_out, 0, CUT_NOT);
		open_session(&s);
		cut_set(&cut_out, at, EAGAIN);
		for (unsigned int i = 0; i < 4; i++)
			submit(&s, i, OP_WRITE, i * 32768, 32768);
		s.transport->kick(s.conn);
		close_session(&s);
		CU_ASSERT_EQUAL(s.cancelled, 4);
		memset(s.buf, 0xee, sizeof(s.buf)); /* ours again */
	}
	stop_target();
}

UNIT_TESTS("wire session", {"cut everywhere", test_cut_everywhere},
	   {"crumbs", test_crumbs}, {"lost anywhere", test_lost_anywhere},
	   {"target drops", test_target_drops},
	   {"ping after the last answer", test_ping_after_the_last_answer},
	   {"closed with output", test_closed_with_output})
