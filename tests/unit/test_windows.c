#include "tests/unit/engine.h"

/* When the caller is told that rows begin and end to be measured. */

struct told {
	size_t row;
	bool opens;
	uint64_t at_ns;
};

struct story {
	uint64_t start_ns; /* before the run */
	struct told told[32];
	size_t nr;
};

static void on_window(void *user, size_t row, bool opens)
{
	struct story *s = user;

	if (s->nr < 32)
		s->told[s->nr++] = (struct told){row, opens, clock_now_ns()};
}

static void run(struct story *s, struct engine *g, const char *job,
		const char *url)
{
	memset(s, 0, sizeof(*s));
	engine_prepare(g, job, url, NULL);
	g->opts.on_window = on_window;
	g->opts.window_user = s;
	s->start_ns = clock_now_ns();
	engine_go(g);
	CU_ASSERT_EQUAL_FATAL(g->code, 0);
}

/* NULL: it was not told, or twice. */
static const struct told *find(const struct story *s, size_t row, bool opens)
{
	const struct told *found = NULL;
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (s->told[i].row == row && s->told[i].opens == opens) {
			if (found)
				return NULL;
			found = &s->told[i];
		}
	return found;
}

#define JOB "[a]\nrw=randread\nbs=4k\ntime_based\nruntime=200ms\n"

static void test_groups_and_delays(void)
{
	const struct told *told[3][2];
	const struct row_result *row;
	uint64_t start_ns;
	struct engine g;
	struct story s;
	size_t i;

	/* b begins to be measured when a is nearly done; c is a group later. */
	run(&s, &g,
	    JOB
	    "[b]\nrw=randread\ntime_based\nruntime=200ms\nstartdelay=100ms\n"
	    "ramp_time=50ms\n[c]\nstonewall\nrw=randread\nnumber_ios=100000"
	    "\n",
	    "null:64M");
	CU_ASSERT_EQUAL(s.nr, 6);
	for (i = 0; i < 3; i++) {
		told[i][0] = find(&s, i, true);
		told[i][1] = find(&s, i, false);
		CU_ASSERT_PTR_NOT_NULL_FATAL(told[i][0]);
		CU_ASSERT_PTR_NOT_NULL_FATAL(told[i][1]);
		CU_ASSERT(told[i][0]->at_ns < told[i][1]->at_ns);
		/* Never before it is so; after it, as the machine likes. */
		row = &g.result.rows[i];
		start_ns = s.start_ns +
			   g.result.group_start_ns[g.plan.rows[i].group];
		CU_ASSERT(told[i][0]->at_ns >= start_ns + row->window_start_ns);
		CU_ASSERT(told[i][1]->at_ns >= start_ns + row->window_end_ns);
	}
	CU_ASSERT(told[2][0]->at_ns > told[1][1]->at_ns);
	engine_release(&g);
}

/* Every worker's share: what they used is what the row used. */
static void test_workers(void)
{
	const struct row_result *row;
	struct engine g;
	uint64_t cpu_ns = 0;
	struct story s;
	size_t i;

	engine_prepare(&g, JOB "numjobs=3\ngroup_reporting\n", "null:64M",
		       NULL);
	memset(&s, 0, sizeof(s));
	g.opts.on_window = on_window;
	g.opts.window_user = &s;
	g.opts.workers = 2;
	engine_go(&g);
	CU_ASSERT_EQUAL_FATAL(g.code, 0);
	CU_ASSERT_EQUAL(s.nr, 2);
	row = &g.result.rows[0];
	CU_ASSERT_EQUAL_FATAL(row->nr_workers, 2);
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(row->workers[i].number, i);
		/* The timer that reads the first figure may be late. */
		CU_ASSERT(row->workers[i].span_ns >= 150 * NS_PER_MSEC);
		CU_ASSERT(row->workers[i].cpu_ns > 0);
		/* A tick more or less. */
		CU_ASSERT(row->workers[i].cpu_ns <
			  row->workers[i].span_ns + 20 * NS_PER_MSEC);
		cpu_ns += row->workers[i].cpu_ns;
	}
	CU_ASSERT_DOUBLE_EQUAL(cpu_ns, row->user_cpu_ns + row->system_cpu_ns,
			       1000);
	engine_release(&g);
}

/* A load of a few I/Os sleeps between them, and says so. */
static void test_waits(void)
{
	struct engine g;
	struct story s;

	run(&s, &g, JOB "rate_iops=100\n", "null:64M");
	CU_ASSERT(g.result.rows[0].workers[0].waits >= 3);
	CU_ASSERT(g.result.rows[0].workers[0].cpu_ns <
		  g.result.rows[0].workers[0].span_ns / 2);
	engine_release(&g);
	run(&s, &g, JOB, "null:64M");
	CU_ASSERT(g.result.rows[0].workers[0].waits < 10);
	engine_release(&g);
}

static void test_stopped(void)
{
	struct engine g;
	struct story s;

	/* Before its window: nothing is told of it. */
	memset(&s, 0, sizeof(s));
	engine_prepare(&g,
		       "[a]\nrw=randread\ntime_based\nruntime=9\n"
		       "ramp_time=9\n",
		       "null:64M", NULL);
	g.opts.on_window = on_window;
	g.opts.window_user = &s;
	engine_stop_soon(&g, 1);
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, 0);
	CU_ASSERT_EQUAL(s.nr, 0);
	CU_ASSERT_EQUAL(g.result.rows[0].nr_workers, 0);
	engine_release(&g);
	/* In it: its end is told. */
	memset(&s, 0, sizeof(s));
	engine_prepare(&g, "[a]\nrw=randread\ntime_based\nruntime=9\n",
		       "null:64M", NULL);
	g.opts.on_window = on_window;
	g.opts.window_user = &s;
	engine_stop_soon(&g, 1);
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, 0);
	CU_ASSERT_EQUAL(s.nr, 2);
	engine_release(&g);
}

static void test_virtual(void)
{
	struct engine g;
	struct story s;

	run(&s, &g, JOB, "sim:servers=1,service=1ms,size=64M");
	CU_ASSERT_EQUAL(s.nr, 0);
	engine_release(&g);
}

UNIT_TESTS("windows", {"groups and delays", test_groups_and_delays},
	   {"workers", test_workers}, {"waits", test_waits},
	   {"stopped", test_stopped},
	   {"never on a virtual clock", test_virtual})
