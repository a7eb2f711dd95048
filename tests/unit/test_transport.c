#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "initiator/transport.h"
#include "target/tgt.h"
#include "tests/unit/unit.h"

/*
 * The contract of initiator/transport.h, over every transport in the table.
 * A new transport adds one line to `subjects`; without it the first test fails.
 */

enum { DEPTH = 8, IO_BYTES = 4096, DEADLINE_S = 20 };

struct subject {
	const char *scheme;
	char url[1024];
	const char *bad_url;  /* opens to nothing */
	const char *bad_text; /* part of the sentence */
	int (*set_up)(struct subject *s);
	/* A URL and an act that lose the connection; NULL: cannot be lost. */
	const char *lossy_url;
	void (*lose)(struct subject *s);
	bool is_up;
};

static int set_up_file(struct subject *s);
static int set_up_iscsi(struct subject *s);
static void lose_iscsi(struct subject *s);

static struct subject subjects[] = {
	{.scheme = "iscsi",
	 .bad_url = "iscsi://127.0.0.1:1/iqn.2026-11.x:none/1",
	 .bad_text = "127.0.0.1",
	 .set_up = set_up_iscsi,
	 .lossy_url = "",
	 .lose = lose_iscsi},
	{.scheme = "block",
	 .bad_url = "block:/nowhere/at/all",
	 .bad_text = "/nowhere/at/all",
	 .set_up = set_up_file},
	{.scheme = "null",
	 .url = "null:64M",
	 .bad_url = "null:0",
	 .bad_text = "null:0"},
	{.scheme = "sim",
	 .url = "sim:servers=4,service=1ms,size=64M",
	 .bad_url = "sim:servers=0,service=1ms",
	 .bad_text = "servers"},
	{.scheme = "fault",
	 .url = "fault:delay=1ms:null:64M",
	 .bad_url = "fault:busy=150%:null:1G",
	 .bad_text = "150%",
	 .lossy_url = "fault:lose=5:null:64M"},
};
enum { NR_SUBJECTS = sizeof(subjects) / sizeof(subjects[0]) };

/* --- what a test sees of a connection --- */

static char
	last_text[512]; /* of the last connection, for who reads a failure */

struct watch {
	const struct transport *transport;
	struct url url;
	struct initiator_opts opts;
	struct loop *loop;
	struct conn *conn;
	struct lun lun;
	struct err e; /* of on_open or on_lost */
	bool opened, lost, closed;
	unsigned int nr_opened, nr_lost, nr_closed, nr_late;
	unsigned int nr_done, nr_cancelled, nr_bad;
	bool inside_call; /* of open, submit, kick or close */
	bool event_inside_call;
	bool close_in_open, close_in_io;
	unsigned int again; /* on_io submits that often */
	struct io io[DEPTH];
	unsigned int io_events[DEPTH];
};

static void note_event(struct watch *w)
{
	if (w->inside_call)
		w->event_inside_call = true;
	if (w->closed)
		w->nr_late++;
}

static void close_conn(struct watch *w)
{
	w->inside_call = true;
	w->transport->close(w->conn);
	w->inside_call = false;
}

static int submit(struct watch *w, struct io *io)
{
	int r;

	io->result = 1;
	memset(&io->detail, 0, sizeof(io->detail));
	w->inside_call = true;
	r = w->transport->submit(w->conn, io);
	w->inside_call = false;
	return r;
}

static void kick(struct watch *w)
{
	w->inside_call = true;
	w->transport->kick(w->conn);
	w->inside_call = false;
}

static void on_open(void *user, const struct lun *lun, const struct err *e)
{
	struct watch *w = user;

	note_event(w);
	w->nr_opened++;
	w->opened = true;
	if (lun)
		w->lun = *lun;
	else
		w->e = *e;
	if (w->close_in_open)
		close_conn(w);
}

static void note_bad(struct watch *w, const struct io *io)
{
	char text[160];

	transport_describe_detail(io, text, sizeof(text));
	snprintf(w->e.text, sizeof(w->e.text), "%s: %s", op_name(io->op), text);
	w->nr_bad++;
}

static void on_io(void *user, struct io *io)
{
	struct watch *w = user;

	note_event(w);
	CU_ASSERT_TRUE_FATAL(io >= w->io && io < w->io + DEPTH);
	w->io_events[io - w->io]++;
	if (io->result == -ECANCELED)
		w->nr_cancelled++;
	else if (io->result)
		note_bad(w, io);
	w->nr_done++;
	if (w->close_in_io) {
		w->close_in_io = false;
		w->again = 0;
		close_conn(w);
	} else if (w->again && !io->result) {
		w->again--;
		w->io_events[io - w->io]--;
		CU_ASSERT_EQUAL(submit(w, io), 0);
		kick(w);
	}
}

static void on_lost(void *user, const struct err *e)
{
	struct watch *w = user;

	note_event(w);
	w->lost = true;
	w->nr_lost++;
	w->e = *e;
}

static void on_closed(void *user)
{
	struct watch *w = user;

	note_event(w);
	w->closed = true;
	w->nr_closed++;
}

static const struct conn_events events = {
	.on_open = on_open,
	.on_io = on_io,
	.on_lost = on_lost,
	.on_closed = on_closed,
};

static void turn_until(struct watch *w, const bool *flag)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_S * NS_PER_SEC;

	while (!*flag && clock_now_ns() < until_ns)
		loop_turn(w->loop, 10 * NS_PER_MSEC);
	CU_ASSERT_TRUE(*flag);
}

static void turn_until_done(struct watch *w, unsigned int nr)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_S * NS_PER_SEC;

	while (w->nr_done < nr && clock_now_ns() < until_ns)
		loop_turn(w->loop, 10 * NS_PER_MSEC);
	CU_ASSERT_EQUAL(w->nr_done, nr);
}

/* A connection, open()ed; @turns: and open. */
static int start(struct watch *w, const char *url, bool wait)
{
	struct conn_setup setup = {
		.url = &w->url,
		.opts = &w->opts,
		.depth = DEPTH,
		.events = &events,
		.user = w,
	};
	size_t i;
	int r;

	memset(w, 0, sizeof(*w));
	w->opts.connect_timeout_ns = 10 * NS_PER_SEC;
	w->opts.command_timeout_ns = 10 * NS_PER_SEC;
	w->opts.plain_wire = getenv("LUNBENCH_TEST_PLAIN_WIRE");
	r = url_parse(&w->url, url, true, NULL, &w->e);
	if (r)
		return r;
	w->transport = transport_find(w->url.scheme, &w->e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w->transport);
	CU_ASSERT_EQUAL_FATAL(
		loop_new(&w->loop, transport_caps(&w->url) & IS_VIRTUAL, &w->e),
		0);
	setup.loop = w->loop;
	for (i = 0; i < DEPTH; i++) {
		w->io[i].op = OP_READ;
		w->io[i].offset_bytes = i * IO_BYTES;
		w->io[i].length_bytes = IO_BYTES;
		w->io[i].buf = aligned_alloc(4096, IO_BYTES);
	}
	w->inside_call = true;
	r = w->transport->open(&w->conn, &setup, &w->e);
	w->inside_call = false;
	if (!r && wait) {
		turn_until(w, &w->opened);
		CU_ASSERT_EQUAL_FATAL(w->e.code, 0);
	}
	return r;
}

/* After close(): the last event is on_closed, once, and all is balanced. */
static void finish(struct watch *w, unsigned int submitted)
{
	size_t i;

	turn_until(w, &w->closed);
	for (i = 0; i < 5; i++)
		loop_turn(w->loop, NS_PER_MSEC);
	CU_ASSERT_EQUAL(w->nr_closed, 1);
	CU_ASSERT_EQUAL(w->nr_late, 0);
	CU_ASSERT_EQUAL(w->nr_done, submitted);
	CU_ASSERT_FALSE(w->event_inside_call);
	for (i = 0; i < DEPTH; i++) {
		CU_ASSERT_TRUE(w->io_events[i] <= 1);
		free(w->io[i].buf);
	}
	loop_free(w->loop);
	snprintf(last_text, sizeof(last_text), "%s", w->e.text);
}

/* What did not get a connection. */
static void drop(struct watch *w)
{
	size_t i;

	for (i = 0; i < DEPTH; i++)
		free(w->io[i].buf);
	loop_free(w->loop);
}

/* --- the subjects --- */

static char file_path[] = "/tmp/lunbench-unit.XXXXXX";
static struct tgt_status tgt;

static void clean_up(void)
{
	if (file_path[strlen(file_path) - 1] != 'X')
		unlink(file_path);
	if (tgt.name[0])
		tgt_down(tgt.name, NULL);
}

static int set_up_file(struct subject *s)
{
	int fd = mkstemp(file_path);

	if (fd < 0 || ftruncate(fd, 64 << 20))
		return -1;
	close(fd);
	snprintf(s->url, sizeof(s->url), "block:%s", file_path);
	return 0;
}

/* LUNBENCH_TEST_URL, or a private tgtd. LUNBENCH_TEST_PLAIN_WIRE: set to go
 * without our wire. */
static int set_up_iscsi(struct subject *s)
{
	const char *url = getenv("LUNBENCH_TEST_URL");
	struct tgt_opts o;
	char note[256];
	struct err e;

	if (url) {
		s->lossy_url = NULL;
		snprintf(s->url, sizeof(s->url), "%s", url);
		return 0;
	}
	tgt_opts_init(&o);
	snprintf(o.name, sizeof(o.name), "unit%d", getpid());
	o.store = STORE_RDWR;
	o.size_bytes = 64 << 20;
	if (tgt_up(&o, &tgt, note, &e)) {
		printf("# %s\n", e.text);
		tgt.name[0] = '\0';
		return -1;
	}
	snprintf(s->url, sizeof(s->url), "%s", tgt.url);
	s->lossy_url = s->url;
	return 0;
}

/* The target goes; the next test that needs it starts another one. */
static void lose_iscsi(struct subject *s)
{
	tgt_down(tgt.name, NULL);
	tgt.name[0] = '\0';
	s->is_up = false;
}

static void for_all(void (*check)(struct subject *s))
{
	struct subject *s;

	for (s = subjects; s < subjects + NR_SUBJECTS; s++) {
		if (!transport_find(s->scheme, NULL))
			continue;
		if (!s->is_up && s->set_up) {
			CU_ASSERT_EQUAL_FATAL(s->set_up(s), 0);
		}
		s->is_up = true;
		unsigned int failed = CU_get_number_of_failures();
		check(s);
		if (CU_get_number_of_failures() != failed)
			printf("# ... with %s (%s)\n", s->scheme, last_text);
	}
}

/* --- the contract --- */

static void test_every_transport_is_tested(void)
{
	size_t i, k;

	atexit(clean_up);
	for (i = 0; transports[i]; i++) {
		for (k = 0; k < NR_SUBJECTS; k++)
			if (!strcmp(subjects[k].scheme, transports[i]->scheme))
				break;
		if (k == NR_SUBJECTS)
			printf("# no subject for %s\n", transports[i]->scheme);
		CU_ASSERT_TRUE(k < NR_SUBJECTS);
		CU_ASSERT_TRUE(strlen(transports[i]->summary) > 0);
	}
}

static void no_emit(void *user, const char *key, const char *value)
{
	(void)user;
	CU_ASSERT_TRUE(*key && value != NULL);
}

static void check_open(struct subject *s)
{
	struct watch w;

	CU_ASSERT_EQUAL_FATAL(start(&w, s->url, false), 0);
	CU_ASSERT_EQUAL(w.nr_opened, 0);
	CU_ASSERT_TRUE(strlen(w.transport->stage(w.conn)) > 0);
	CU_ASSERT_EQUAL(submit(&w, &w.io[0]), -ENOTCONN);
	turn_until(&w, &w.opened);
	CU_ASSERT_TRUE(w.lun.blocks > 0);
	CU_ASSERT_TRUE(w.lun.block_bytes >= 512);
	CU_ASSERT_TRUE(lun_bytes(&w.lun) >= 64 << 20);
	w.transport->describe(w.conn, no_emit, NULL);
	close_conn(&w);
	CU_ASSERT_EQUAL(w.nr_closed, 0); /* close returns before its events */
	CU_ASSERT_EQUAL(submit(&w, &w.io[0]), -ENOTCONN);
	finish(&w, 0);
	CU_ASSERT_EQUAL(w.nr_opened, 1);
}

static void test_open(void)
{
	for_all(check_open);
}

static void check_data(struct subject *s)
{
	struct watch w;
	size_t i, k;

	CU_ASSERT_EQUAL_FATAL(start(&w, s->url, true), 0);
	for (i = 0; i < DEPTH; i++) {
		memset(w.io[i].buf, 'a' + i, IO_BYTES);
		w.io[i].op = OP_WRITE;
		CU_ASSERT_EQUAL(submit(&w, &w.io[i]), 0);
	}
	kick(&w);
	turn_until_done(&w, DEPTH);
	for (i = 0; i < DEPTH; i++) {
		memset(w.io[i].buf, 0, IO_BYTES);
		w.io[i].op = OP_READ;
		w.io_events[i] = 0;
		CU_ASSERT_EQUAL(submit(&w, &w.io[i]), 0);
	}
	kick(&w);
	turn_until_done(&w, 2 * DEPTH);
	for (i = 0; i < DEPTH && w.lun.keeps_data; i++)
		for (k = 0; k < IO_BYTES; k += 511)
			CU_ASSERT_EQUAL(((char *)w.io[i].buf)[k], 'a' + (int)i);
	CU_ASSERT_EQUAL(w.nr_bad, 0);
	close_conn(&w);
	finish(&w, 2 * DEPTH);
}

static void test_data(void)
{
	for_all(check_data);
}

static void check_flush_and_trim(struct subject *s)
{
	struct watch w;

	CU_ASSERT_EQUAL_FATAL(start(&w, s->url, true), 0);
	free(w.io[0].buf);
	w.io[0] = (struct io){.op = OP_FLUSH};
	CU_ASSERT_EQUAL(submit(&w, &w.io[0]), 0);
	kick(&w);
	turn_until_done(&w, 1);
	if (w.lun.can_unmap) {
		w.io[1].op = OP_TRIM;
		free(w.io[1].buf);
		w.io[1].buf = NULL;
		CU_ASSERT_EQUAL(submit(&w, &w.io[1]), 0);
		kick(&w);
		turn_until_done(&w, 2);
	}
	CU_ASSERT_EQUAL(w.nr_bad, 0);
	close_conn(&w);
	finish(&w, w.nr_done);
}

static void test_flush_and_trim(void)
{
	for_all(check_flush_and_trim);
}

/* Submitting again from inside on_io, many times over. */
static void check_exactly_one(struct subject *s)
{
	struct watch w;
	size_t i;

	CU_ASSERT_EQUAL_FATAL(start(&w, s->url, true), 0);
	w.again = 500;
	for (i = 0; i < DEPTH; i++)
		CU_ASSERT_EQUAL(submit(&w, &w.io[i]), 0);
	CU_ASSERT_EQUAL(w.nr_done, 0);
	kick(&w);
	turn_until_done(&w, 500 + DEPTH);
	for (i = 0; i < DEPTH; i++)
		CU_ASSERT_EQUAL(w.io_events[i], 1);
	CU_ASSERT_EQUAL(w.nr_bad, 0);
	close_conn(&w);
	finish(&w, 500 + DEPTH);
}

static void test_exactly_one(void)
{
	for_all(check_exactly_one);
}

static void check_close_at_once(struct subject *s)
{
	struct watch w;

	CU_ASSERT_EQUAL_FATAL(start(&w, s->url, false), 0);
	close_conn(&w);
	finish(&w, 0);
	CU_ASSERT_EQUAL(w.nr_opened, 0);
}

static void check_close_in_open(struct subject *s)
{
	struct watch w;

	CU_ASSERT_EQUAL_FATAL(start(&w, s->url, false), 0);
	w.close_in_open = true;
	finish(&w, 0);
	CU_ASSERT_EQUAL(w.nr_opened, 1);
}

/* Half-way through a login, too, at every turn that it takes. */
static void check_close_at_turn(struct subject *s)
{
	struct watch w;
	int turns, i;

	for (turns = 1; turns < 12; turns++) {
		CU_ASSERT_EQUAL_FATAL(start(&w, s->url, false), 0);
		for (i = 0; i < turns; i++)
			loop_turn(w.loop, NS_PER_MSEC);
		close_conn(&w);
		finish(&w, 0);
	}
}

static void test_close_while_opening(void)
{
	for_all(check_close_at_once);
	for_all(check_close_in_open);
	for_all(check_close_at_turn);
}

static void check_close_with_outstanding(struct subject *s)
{
	struct watch w;
	int kicked;
	size_t i;

	for (kicked = 0; kicked < 2; kicked++) {
		CU_ASSERT_EQUAL_FATAL(start(&w, s->url, true), 0);
		for (i = 0; i < DEPTH; i++) {
			w.io[i].op = i % 2 ? OP_READ : OP_WRITE;
			memset(w.io[i].buf, 1, IO_BYTES);
			CU_ASSERT_EQUAL(submit(&w, &w.io[i]), 0);
		}
		if (kicked)
			kick(&w);
		close_conn(&w);
		finish(&w, DEPTH);
		CU_ASSERT_EQUAL(w.nr_cancelled, DEPTH);
	}
}

static void check_close_in_io(struct subject *s)
{
	struct watch w;
	size_t i;

	CU_ASSERT_EQUAL_FATAL(start(&w, s->url, true), 0);
	for (i = 0; i < DEPTH; i++)
		CU_ASSERT_EQUAL(submit(&w, &w.io[i]), 0);
	kick(&w);
	w.close_in_io = true;
	finish(&w, DEPTH);
	CU_ASSERT_EQUAL(w.nr_cancelled, DEPTH - 1);
	CU_ASSERT_EQUAL(w.nr_bad, 0);
}

static void test_close_while_busy(void)
{
	for_all(check_close_with_outstanding);
	for_all(check_close_in_io);
}

static void check_lost(struct subject *s)
{
	unsigned int submitted = 0;
	struct watch w;
	int r;

	if (!s->lossy_url)
		return;
	CU_ASSERT_EQUAL_FATAL(start(&w, s->lossy_url, true), 0);
	if (s->lose)
		s->lose(s);
	/* Keep it busy until the loss shows. */
	while (!w.lost && submitted < DEPTH) {
		r = submit(&w, &w.io[submitted]);
		if (r)
			break;
		submitted++;
		kick(&w);
		loop_turn(w.loop, 10 * NS_PER_MSEC);
	}
	turn_until(&w, &w.lost);
	CU_ASSERT_TRUE(strlen(w.e.text) > 0);
	CU_ASSERT_EQUAL(submit(&w, &w.io[DEPTH - 1]), -ENOTCONN);
	loop_turn(w.loop, NS_PER_MSEC);
	CU_ASSERT_TRUE(strlen(w.transport->stage(w.conn)) > 0);
	close_conn(&w);
	finish(&w, submitted);
	CU_ASSERT_EQUAL(w.nr_lost, 1);
}

static void test_lost(void)
{
	for_all(check_lost);
}

static void check_bad(struct subject *s)
{
	struct watch w;
	int r = start(&w, s->bad_url, false);

	if (!r) {
		turn_until(&w, &w.opened);
		CU_ASSERT_EQUAL(w.lun.blocks, 0);
		r = w.e.code;
		close_conn(&w);
		finish(&w, 0);
	} else if (w.loop) {
		drop(&w);
	}
	CU_ASSERT_TRUE(r < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(w.e.text, s->bad_text));
	if (!strstr(w.e.text, s->bad_text))
		printf("# \"%s\"\n", w.e.text);
}

static void test_bad_urls(void)
{
	for_all(check_bad);
}

static void check_probe(struct subject *s)
{
	const struct probe_events probed = {.emit = no_emit};
	struct initiator_opts opts = {.connect_timeout_ns = 10 * NS_PER_SEC,
				      .command_timeout_ns = 10 * NS_PER_SEC};
	struct url url;
	struct lun lun = {0};
	struct err e;

	CU_ASSERT_EQUAL_FATAL(url_parse(&url, s->url, true, NULL, &e), 0);
	CU_ASSERT_EQUAL(transport_probe(&url, &opts, &lun, &probed, &e), 0);
	CU_ASSERT_TRUE(lun_bytes(&lun) >= 64 << 20);
	CU_ASSERT_EQUAL_FATAL(url_parse(&url, s->bad_url, true, NULL, &e), 0);
	CU_ASSERT_TRUE(transport_probe(&url, &opts, &lun, NULL, &e) < 0);
}

static void test_probe(void)
{
	struct initiator_opts opts = {.connect_timeout_ns = 50 * NS_PER_MSEC};
	struct url url;
	struct lun lun;
	struct err e;

	for_all(check_probe);
	url_parse(&url, "fault:open_delay=60s:null:1G", true, NULL, &e);
	CU_ASSERT_EQUAL(transport_probe(&url, &opts, &lun, NULL, &e),
			-ETIMEDOUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "no answer in 0.05 s"));
}

static void test_find(void)
{
	struct err e;

	CU_ASSERT_PTR_NULL(transport_find("gopher", &e));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "\"gopher\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "null"));
}

static void test_caps(void)
{
	struct url url;
	struct err e;

	url_parse(&url, "fault:busy=1%:sim:service=1ms", true, NULL, &e);
	CU_ASSERT_TRUE(transport_caps(&url) & IS_VIRTUAL);
	url_parse(&url, "fault:busy=1%:null:1G", true, NULL, &e);
	CU_ASSERT_FALSE(transport_caps(&url) & IS_VIRTUAL);
}

static void test_bad_specs(void)
{
	static const char *const cases[][2] = {
		{"fault:bsy=1%:null:1G",
		 "unknown key \"bsy\"; known are error"},
		{"fault:busy:null:1G", "\"busy\" is not key=value"},
		{"fault:busy=0:null:1G", "busy: "},
		{"fault:busy=0%:null:1G", "\"0%\" is not a share"},
		{"fault:busy=1x%:null:1G", "\"1x%\" is not a share"},
		{"fault:delay=soon:null:1G", "delay: "},
		{"sim:service=1ms,dist=normal", "dist=normal is neither"},
		{"sim:service=1ms,size=1Q", "size: "},
		{"sim:servers=2", "a service time"},
	};
	struct watch w;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_TRUE(start(&w, cases[i][0], false) < 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(w.e.text, cases[i][1]));
		if (!strstr(w.e.text, cases[i][1]))
			printf("# \"%s\"\n", w.e.text);
		if (w.loop)
			drop(&w);
	}
}

/* The faults themselves: each N-th, and nothing else. */
static void test_faults(void)
{
	static const struct {
		const char *url;
		int result;
		uint8_t status, key;
	} cases[] = {
		{"fault:busy=3:null:1G", -EBUSY, 0x08, 0},
		{"fault:full=3:null:1G", -EBUSY, 0x28, 0},
		{"fault:attention=3:null:1G", -EAGAIN, 0x02, 6},
		{"fault:not_ready=3:null:1G", -EAGAIN, 0x02, 2},
		{"fault:error=3,delay=1ms:null:1G", -ENODATA, 0x02, 3},
	};
	char text[160];
	struct watch w;
	size_t i, k;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_EQUAL_FATAL(start(&w, cases[i].url, true), 0);
		for (k = 0; k < DEPTH; k++)
			CU_ASSERT_EQUAL(submit(&w, &w.io[k]), 0);
		kick(&w);
		turn_until_done(&w, DEPTH);
		CU_ASSERT_EQUAL(w.nr_bad, 2);
		CU_ASSERT_EQUAL(w.io[2].result, cases[i].result);
		CU_ASSERT_EQUAL(w.io[5].detail.scsi_status, cases[i].status);
		CU_ASSERT_EQUAL(w.io[5].detail.sense_key, cases[i].key);
		transport_describe_detail(&w.io[5], text, sizeof(text));
		CU_ASSERT_TRUE(strlen(text) > 3);
		close_conn(&w);
		finish(&w, DEPTH);
	}
	/* One that is dropped comes back with the close. */
	CU_ASSERT_EQUAL_FATAL(start(&w, "fault:drop=8:null:1G", true), 0);
	for (k = 0; k < DEPTH; k++)
		CU_ASSERT_EQUAL(submit(&w, &w.io[k]), 0);
	kick(&w);
	turn_until_done(&w, DEPTH - 1);
	close_conn(&w);
	finish(&w, DEPTH);
	CU_ASSERT_EQUAL(w.io[DEPTH - 1].result, -ECANCELED);
}

UNIT_TESTS("transport",
	   {"every transport is tested", test_every_transport_is_tested},
	   {"open", test_open}, {"data", test_data},
	   {"flush and trim", test_flush_and_trim},
	   {"exactly one on_io", test_exactly_one},
	   {"close while opening", test_close_while_opening},
	   {"close while busy", test_close_while_busy}, {"lost", test_lost},
	   {"bad URLs", test_bad_urls}, {"probe", test_probe},
	   {"unknown scheme", test_find}, {"caps of a URL", test_caps},
	   {"bad specs", test_bad_specs}, {"faults", test_faults})
