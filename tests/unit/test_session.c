#include <errno.h>
#include <stdlib.h>

#include "tests/unit/engine.h"

/* The policy of a session, mostly through fault over sim: on a virtual clock
 * minutes of time-outs take no time, and every figure is exact. */

#define SIM "sim:servers=8,service=1ms,size=64M"

static const struct meter *meter_of(const struct engine *g)
{
	return &g->result.rows[0].meter;
}

static unsigned int nr_events(const struct engine *g, enum event_kind kind)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < g->result.nr_events; i++)
		n += g->result.events[i].kind == kind;
	return n;
}

static void check_text(const char *text, const char *part)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
	if (!strstr(text, part))
		printf("# \"%s\" lacks \"%s\"\n", text, part);
}

/* --- retries --- */

static void test_busy_is_retried(void)
{
	struct engine g;

	engine_run(&g, "[j]\nrw=randread\niodepth=4\nnumber_ios=1000\n",
		   "fault:busy=10:" SIM);
	CU_ASSERT_EQUAL(g.result.end, RUN_COMPLETE);
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].ios, 1000);
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].errors, 0);
	CU_ASSERT_EQUAL(meter_of(&g)->retries[RETRY_BUSY], 111);
	/* The latency has the 10 ms of the back-off in it. */
	CU_ASSERT_TRUE(meter_of(&g)->op[OP_READ].service->max_ns >=
		       11 * NS_PER_MSEC);
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].service->min_ns, NS_PER_MSEC);
	engine_release(&g);
}

/* 10, 20, 40, 80, then 100 ms: the 13th would come after 1.05 s. */
static void test_busy_for_too_long(void)
{
	struct engine g;

	engine_prepare(&g, "[j]\nrw=randread\nnumber_ios=10\n",
		       "fault:busy=1:" SIM, NULL);
	g.opts.initiator.command_timeout_ns = NS_PER_SEC;
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, 0);
	CU_ASSERT_EQUAL(g.result.end, RUN_FAILED);
	CU_ASSERT_EQUAL(g.result.error.code, -EBUSY);
	check_text(g.result.error.text, "failed after 12 retries: BUSY");
	CU_ASSERT_EQUAL(meter_of(&g)->retries[RETRY_BUSY], 12);
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].errors, 1);
	CU_ASSERT_EQUAL(g.result.duration_ns, 950 * NS_PER_MSEC);
	engine_release(&g);
}

static void test_causes_are_told_apart(void)
{
	static const struct {
		const char *url;
		enum retry_cause cause;
		uint64_t max_ns;
	} cases[] = {
		{"fault:full=100:" SIM, RETRY_TASK_SET_FULL, 11 * NS_PER_MSEC},
		{"fault:attention=100:" SIM, RETRY_UNIT_ATTENTION, NS_PER_MSEC},
		{"fault:not_ready=100:" SIM, RETRY_NOT_READY,
		 101 * NS_PER_MSEC},
	};
	struct engine g;
	size_t i;
	int c;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		engine_run(&g, "[j]\nrw=randwrite\nnumber_ios=500\n",
			   cases[i].url);
		CU_ASSERT_EQUAL(g.result.end, RUN_COMPLETE);
		for (c = 0; c < RETRY_CAUSES; c++)
			CU_ASSERT_EQUAL(
				meter_of(&g)->retries[c],
				(enum retry_cause)c == cases[i].cause ? 5 : 0);
		CU_ASSERT_EQUAL(meter_of(&g)->op[OP_WRITE].service->max_ns,
				cases[i].max_ns);
		engine_release(&g);
	}
}

/* --- errors --- */

static void test_error_ends_its_row(void)
{
	struct engine g;

	/* The first session of a has an error with its 200th I/O; its other
	 * one is stopped then, b goes on. Fewer I/Os of b see none. */
	engine_run(&g,
		   "[a]\nrw=randread\nclients=2\nruntime=10\ntime_based\n"
		   "[b]\nrw=randread\nnumber_ios=150\n"
		   "[c]\nrw=randread\nnumber_ios=10\nstonewall\n",
		   "fault:error=200:" SIM);
	CU_ASSERT_EQUAL(g.result.end, RUN_FAILED);
	CU_ASSERT_EQUAL(g.result.error.code, -ENODATA);
	check_text(g.result.error.text, "read of 8 blocks at LBA ");
	check_text(g.result.error.text, "fault:error=200:sim:");
	check_text(g.result.error.text, "MEDIUM ERROR");
	CU_ASSERT_EQUAL(g.result.rows[0].error, -ENODATA);
	CU_ASSERT_TRUE(g.result.rows[0].meter.op[OP_READ].ios >= 398);
	CU_ASSERT_TRUE(g.result.rows[0].meter.op[OP_READ].ios < 500);
	CU_ASSERT_EQUAL(g.result.rows[0].meter.nr_errors, 1);
	CU_ASSERT_EQUAL(g.result.rows[1].error, 0);
	CU_ASSERT_EQUAL(g.result.rows[1].meter.op[OP_READ].ios, 150);
	CU_ASSERT_EQUAL(g.result.rows[2].nr_clients, 0);
	CU_ASSERT_EQUAL(nr_events(&g, EVENT_ERROR), 1);
	engine_release(&g);
}

static void test_continue_on_error(void)
{
	struct engine g;

	engine_run(&g,
		   "[a]\nrw=randread\nnumber_ios=1000\n"
		   "continue_on_error=read\n",
		   "fault:error=100,delay=5ms:" SIM);
	CU_ASSERT_EQUAL(g.result.end, RUN_COMPLETE);
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].ios, 990);
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].errors, 10);
	CU_ASSERT_EQUAL(meter_of(&g)->error[0].count, 10);
	check_text(meter_of(&g)->error[0].text, "MEDIUM ERROR");
	/* The time of those that failed is in neither. */
	ENGINE_NEAR(meter_of(&g)->outstanding_ns,
		    meter_of(&g)->op[OP_READ].service->sum_ns, 1e-9);
	engine_release(&g);
}

/* --- lost connections --- */

/* Each connection is lost with its 100th I/O and is back after 2 s. */
static void test_lost_is_reopened(void)
{
	const struct client_result *c;
	struct engine g;

	engine_run(&g, "[j]\nrw=randread\niodepth=4\nnumber_ios=300\n",
		   "fault:lose=100,open_delay=2s:" SIM);
	CU_ASSERT_EQUAL(g.result.end, RUN_COMPLETE);
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].ios, 300);
	c = &g.result.rows[0].clients[0];
	CU_ASSERT_EQUAL(c->ios, 300);
	CU_ASSERT_EQUAL(c->disconnects, 3);
	/* Never up for long: the second and third time it also waits. */
	CU_ASSERT_EQUAL(c->outage_ns,
			3 * 2 * NS_PER_SEC + (200 + 400) * NS_PER_MSEC);
	CU_ASSERT_EQUAL(nr_events(&g, EVENT_DISCONNECT), 3);
	CU_ASSERT_EQUAL(nr_events(&g, EVENT_RECONNECT), 3);
	check_text(g.result.events[1].text, "session 0 to fault:lose=100");
	check_text(g.result.events[1].text, "is lost: ");
	check_text(g.result.events[2].text, "is back after 2.000 s");
	/* Four were outstanding each time; their latency has the outage. */
	CU_ASSERT_EQUAL(meter_of(&g)->retries[RETRY_CONNECTION_LOST], 12);
	CU_ASSERT_TRUE(meter_of(&g)->op[OP_READ].service->max_ns >=
		       2 * NS_PER_SEC);
	engine_release(&g);
}

static void test_fail_policy(void)
{
	struct engine g;

	engine_prepare(&g, "[j]\nrw=randread\nclients=3\niodepth=4\n",
		       "fault:lose=100:" SIM, NULL);
	g.opts.on_disconnect = DISCONNECT_FAIL;
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, 0);
	CU_ASSERT_EQUAL(g.result.end, RUN_FAILED);
	check_text(g.result.error.text, "to fault:lose=100:sim:");
	CU_ASSERT_TRUE(meter_of(&g)->op[OP_READ].ios >= 90);
	engine_release(&g);
}

/* A command without an answer counts as a lost connection. */
static void test_no_answer(void)
{
	struct engine g;

	engine_run(&g, "[j]\nrw=randread\niodepth=2\nnumber_ios=150\n",
		   "fault:drop=100:" SIM);
	CU_ASSERT_EQUAL(g.result.end, RUN_COMPLETE);
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].ios, 150);
	CU_ASSERT_EQUAL(g.result.rows[0].clients[0].disconnects, 1);
	check_text(g.result.events[1].text, "no answer to read of 8 blocks at "
					    "LBA ");
	check_text(g.result.events[1].text, " for 30 s");
	CU_ASSERT_TRUE(meter_of(&g)->op[OP_READ].service->max_ns >=
		       30 * NS_PER_SEC);
	CU_ASSERT_TRUE(meter_of(&g)->op[OP_READ].service->max_ns <
		       31 * NS_PER_SEC);
	engine_release(&g);
}

/* What was under way at the end of the time is seen to its end. */
static void test_lost_while_draining(void)
{
	struct engine g;

	engine_run(&g,
		   "[j]\nrw=randread\nruntime=1\ntime_based\n"
		   "continue_on_error=read\n",
		   "fault:lose=1000,open_delay=1s:" SIM);
	CU_ASSERT_EQUAL(g.result.end, RUN_COMPLETE);
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].ios, 1000);
	CU_ASSERT_EQUAL(g.result.rows[0].window_end_ns, 2 * NS_PER_SEC);
	engine_release(&g);
}

/* Lost with every first I/O: no progress, so there is an end to patience. */
static void test_flapping(void)
{
	struct engine g;

	engine_run(&g, "[j]\nrw=randread\nnumber_ios=10\n",
		   "fault:lose=1,open_delay=1s:" SIM);
	CU_ASSERT_EQUAL(g.result.end, RUN_FAILED);
	check_text(g.result.error.text, "not done in 60 s over ");
	CU_ASSERT_TRUE(g.result.duration_ns < 65 * NS_PER_SEC);
	engine_release(&g);
}

/* Nor does a target that can be opened at once get thousands of logins. */
static void test_flapping_backs_off(void)
{
	struct engine g;

	engine_run(&g, "[j]\nrw=randread\nnumber_ios=10\n",
		   "fault:lose=1:" SIM);
	CU_ASSERT_EQUAL(g.result.end, RUN_FAILED);
	CU_ASSERT_TRUE(g.result.rows[0].clients[0].disconnects > 50);
	CU_ASSERT_TRUE(g.result.rows[0].clients[0].disconnects < 70);
	check_text(g.result.error.text, "connections: ");
	engine_release(&g);
}

/* --- a transport that refuses, or changes, from its second opening on --- */

static unsigned int nr_opens, refuse_from, nr_opening, max_opening;
static uint64_t open_times[64];
static struct url other_url;

static int scripted_open(struct conn **c, const struct conn_setup *s,
			 struct err *e)
{
	struct conn_setup other = *s;

	if (nr_opens < 64)
		open_times[nr_opens] = loop_now_ns(s->loop);
	nr_opens++;
	if (refuse_from && nr_opens >= refuse_from)
		return err_set(e, -ECONNREFUSED, "connection refused");
	if (other_url.scheme[0] && nr_opens > 1)
		other.url = &other_url;
	return transport_fault.open(c, &other, e);
}

static void prepare_scripted(struct engine *g, struct transport *t,
			     const char *job, const char *url)
{
	nr_opens = refuse_from = 0;
	memset(&other_url, 0, sizeof(other_url));
	engine_prepare(g, job, url, NULL);
	*t = transport_fault;
	t->open = scripted_open;
	g->opts.transport = t;
}

static void test_reopen_times_out(void)
{
	static const uint64_t after_ms[] = {0, 200, 600, 1400, 2400, 3400};
	struct transport t;
	struct engine g;
	size_t i;

	prepare_scripted(&g, &t, "[j]\nrw=randread\n", "fault:lose=100:" SIM);
	refuse_from = 2;
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, 0);
	CU_ASSERT_EQUAL(g.result.end, RUN_FAILED);
	check_text(g.result.error.text, "could not be opened again in 30 s: "
					"connection refused");
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].ios, 99);
	for (i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(open_times[i + 1] - open_times[1],
				after_ms[i] * NS_PER_MSEC);
	/* Lost with the 100th I/O, after 99 ms; given up 30 s later. */
	CU_ASSERT_EQUAL(g.result.group_end_ns[0],
			99 * NS_PER_MSEC + 30 * NS_PER_SEC);
	CU_ASSERT_EQUAL(g.result.rows[0].clients[0].outage_ns, 30 * NS_PER_SEC);
	/* The outage is in the rate; the I/O that was given up has no place in
	 * Little's law. */
	ENGINE_NEAR(engine_window_s(&g, 0), 30.099, 0);
	CU_ASSERT_EQUAL(meter_of(&g)->outstanding_ns, 99 * NS_PER_MSEC);
	engine_release(&g);
}

static void test_lun_changed(void)
{
	struct transport t;
	struct engine g;

	prepare_scripted(&g, &t, "[j]\nrw=randwrite\n", "fault:lose=100:" SIM);
	url_parse(&other_url,
		  "fault:lose=100:sim:servers=8,service=1ms,size=128M", true,
		  NULL, &g.e);
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, 0);
	CU_ASSERT_EQUAL(g.result.end, RUN_FAILED);
	check_text(g.result.error.text, "the LUN has changed: its size was "
					"131072 and is 262144 blocks");
	engine_release(&g);
}

static void test_another_lun(void)
{
	struct engine g;

	engine_prepare(&g, "[j]\nrw=randwrite\n", SIM, NULL);
	strcpy(g.plan.lun.serial, "A1");
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, -ESTALE);
	check_text(g.e.text, "its serial number was \"A1\" and is \"\"");
	engine_release(&g);
}

/* Ctrl-C does not wait for a target that is away. */
static void test_stop_in_outage(void)
{
	struct transport t;
	struct engine g;
	uint64_t start_ns;

	prepare_scripted(&g, &t, "[j]\nrw=randread\niodepth=4\n",
			 "fault:lose=100:null:64M");
	refuse_from = 2;
	engine_stop_soon(&g, 1);
	start_ns = clock_now_ns();
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, 0);
	CU_ASSERT_EQUAL(g.result.end, RUN_INTERRUPTED);
	CU_ASSERT_EQUAL(meter_of(&g)->op[OP_READ].ios, 96);
	CU_ASSERT_TRUE(clock_now_ns() - start_ns < 4 * NS_PER_SEC);
	engine_release(&g);
}

/* --- many at once --- */

static const struct conn_events *counted_events;

static void counted_open_done(void *user, const struct lun *lun,
			      const struct err *e)
{
	nr_opening--;
	counted_events->on_open(user, lun, e);
}

static int counted_open(struct conn **c, const struct conn_setup *s,
			struct err *e)
{
	static struct conn_events events;
	struct conn_setup mine = *s;

	counted_events = s->events;
	events = *s->events;
	events.on_open = counted_open_done;
	mine.events = &events;
	if (++nr_opening > max_opening)
		max_opening = nr_opening;
	return transport_fault.open(c, &mine, e);
}

static void test_logins_are_few_at_a_time(void)
{
	struct transport t = transport_fault;
	struct engine g;

	engine_prepare(&g, "[j]\nrw=randread\nclients=200\nnumber_ios=400\n",
		       "fault:open_delay=100ms:" SIM, NULL);
	t.open = counted_open;
	g.opts.transport = &t;
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, 0);
	CU_ASSERT_EQUAL(max_opening, 32);
	CU_ASSERT_EQUAL(g.result.rows[0].nr_clients, 200);
	/* 7 rounds of 100 ms */
	CU_ASSERT_EQUAL(g.result.group_start_ns[0], 700 * NS_PER_MSEC);
	engine_release(&g);
}

UNIT_TESTS("session", {"BUSY is retried", test_busy_is_retried},
	   {"BUSY for too long", test_busy_for_too_long},
	   {"causes are told apart", test_causes_are_told_apart},
	   {"an error ends its row", test_error_ends_its_row},
	   {"continue_on_error", test_continue_on_error},
	   {"a lost session is reopened", test_lost_is_reopened},
	   {"policy fail", test_fail_policy}, {"no answer", test_no_answer},
	   {"lost while draining", test_lost_while_draining},
	   {"lost again and again", test_flapping},
	   {"lost again and again at once", test_flapping_backs_off},
	   {"reopening times out", test_reopen_times_out},
	   {"the LUN has changed", test_lun_changed},
	   {"another LUN", test_another_lun},
	   {"stop in an outage", test_stop_in_outage},
	   {"few logins at a time", test_logins_are_few_at_a_time})
