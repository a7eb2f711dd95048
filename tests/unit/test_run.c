#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/engine.h"

static const struct meter_op *op_of(const struct engine *g, size_t row,
				    enum io_op op)
{
	return &g->result.rows[row].meter.op[op];
}

/* N = X * R, the time-weighted depth against rate times service time. */
static void check_little(const struct engine *g, size_t row, enum io_op op,
			 double share)
{
	double n = g->result.rows[row].meter.outstanding_ns / 1e9 /
		   engine_window_s(g, row);
	double r = hist_mean_ns(op_of(g, row, op)->service) / 1e9;

	ENGINE_NEAR(n, engine_iops(g, row, op) * r, share);
}

/* Without ramp the window ends with the last completion and nothing is lost or
 * added at the edges: exactly min(q,k)/S and max(1,q/k)*S, whatever q and k. */
static void test_closed_loop_theory(void)
{
	static const struct {
		unsigned int servers, depth;
	} cases[] = {{1, 1}, {4, 1}, {4, 4}, {4, 8}, {1, 32}, {16, 4}};
	double servers, depth, service_s = 0.001;
	char job[256], url[128];
	struct engine g;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		servers = cases[i].servers;
		depth = cases[i].depth;
		snprintf(job, sizeof(job),
			 "[j]\nrw=randread\nbs=4k\niodepth=%u\nruntime=10\n"
			 "time_based\n",
			 cases[i].depth);
		snprintf(url, sizeof(url), "sim:servers=%u,service=1ms,size=1G",
			 cases[i].servers);
		engine_run(&g, job, url);
		CU_ASSERT_EQUAL(g.result.end, RUN_COMPLETE);
		CU_ASSERT_TRUE(g.result.is_virtual_time);
		ENGINE_NEAR(engine_iops(&g, 0, OP_READ),
			    (depth < servers ? depth : servers) / service_s,
			    0.0);
		/* The first q ios do not queue for long: q/10000 of them. */
		ENGINE_NEAR(hist_mean_ns(op_of(&g, 0, OP_READ)->service),
			    (depth > servers ? depth / servers : 1) * 1e6,
			    0.002);
		check_little(&g, 0, OP_READ, 1e-9);
		engine_release(&g);
	}
}

/* With ramp the window lies in the steady state. */
static void test_closed_loop_with_ramp(void)
{
	struct engine g;

	engine_run(&g,
		   "[j]\nrw=randread\nbs=4k\niodepth=8\nruntime=10\n"
		   "ramp_time=1\ntime_based\n",
		   "sim:servers=4,service=1ms,size=1G");
	CU_ASSERT_EQUAL(g.result.rows[0].window_start_ns, NS_PER_SEC);
	CU_ASSERT_EQUAL(g.result.rows[0].window_end_ns, 11 * NS_PER_SEC);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_READ)->ios, 40000);
	ENGINE_NEAR(hist_mean_ns(op_of(&g, 0, OP_READ)->service), 2e6, 0);
	/* What ran in the ramp: 8 at once, then 4 every ms before its end. */
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_READ)->outside_ios, 8 + 999 * 4);
	check_little(&g, 0, OP_READ, 1e-9);
	engine_release(&g);
}

/* Sessions share the servers, and fairly. */
static void test_many_clients(void)
{
	const struct row_result *row;
	uint64_t ios[64];
	struct engine g;
	size_t i;

	engine_run(&g,
		   "[j]\nrw=randread\nbs=4k\niodepth=2\nclients=64\n"
		   "runtime=10\ntime_based\n",
		   "sim:servers=16,service=1ms,size=1G");
	row = &g.result.rows[0];
	CU_ASSERT_EQUAL_FATAL(row->nr_clients, 64);
	for (i = 0; i < 64; i++) {
		CU_ASSERT_EQUAL(row->clients[i].client, i);
		ios[i] = row->clients[i].ios;
	}
	CU_ASSERT_TRUE(meter_jain(ios, 64) > 0.999);
	ENGINE_NEAR(engine_iops(&g, 0, OP_READ), 16000, 0);
	ENGINE_NEAR(hist_mean_ns(op_of(&g, 0, OP_READ)->service), 8e6, 0.01);
	engine_release(&g);
}

/* M/M/1 at half load: response 2 S, and the mean number inside is 1. */
static void test_poisson(void)
{
	struct engine g;

	engine_run(&g,
		   "[j]\nrw=randread\nbs=4k\niodepth=256\nruntime=1000\n"
		   "time_based\nrate_iops=500\nrate_process=poisson\n",
		   "sim:servers=1,service=1ms,size=1G,dist=exp");
	ENGINE_NEAR(engine_iops(&g, 0, OP_READ), 500, 0.01);
	ENGINE_NEAR(hist_mean_ns(op_of(&g, 0, OP_READ)->response), 2e6, 0.03);
	ENGINE_NEAR(g.result.rows[0].meter.outstanding_ns / 1e9 /
			    engine_window_s(&g, 0),
		    1, 0.03);
	engine_release(&g);
}

/* Open loop above capacity: the response time grows with the backlog, the
 * service time does not. This is what a closed loop cannot show. */
static void test_open_loop_overload(void)
{
	const struct meter_op *o;
	struct engine g;

	engine_run(&g,
		   "[j]\nrw=randread\nbs=4k\niodepth=1\nruntime=10\n"
		   "time_based\nrate_iops=2000\n",
		   "sim:servers=1,service=1ms,size=1G");
	o = op_of(&g, 0, OP_READ);
	ENGINE_NEAR(engine_iops(&g, 0, OP_READ), 1000, 0.001);
	ENGINE_NEAR(hist_mean_ns(o->service), 1e6, 0);
	/* The last of 10000 was due after 5 s and done after 10 s. */
	ENGINE_NEAR(o->response->max_ns, 5e9, 0.001);
	ENGINE_NEAR(hist_mean_ns(o->response), 2.5e9, 0.001);
	engine_release(&g);
}

/* An open loop below capacity starts each I/O when it is due. */
static void test_open_loop_on_time(void)
{
	struct engine g;

	engine_run(&g,
		   "[j]\nrw=randread\nbs=4k\niodepth=4\nruntime=10\n"
		   "time_based\nrate_iops=100\n",
		   "sim:servers=4,service=1ms,size=1G");
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_READ)->ios, 1000);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_READ)->wait->max_ns, 0);
	engine_release(&g);
}

/* As fio for 1024 reads at depth 6: the first makes it 1, then 2 and 3, and all
 * others 4 to 7. */
static void test_depth_levels(void)
{
	static const uint64_t want[DEPTH_LEVELS] = {1, 2, 1021};
	const struct meter *m;
	struct engine g;
	size_t i;

	engine_run(&g, "[j]\nrw=randread\nbs=4k\niodepth=6\nsize=4m\n",
		   "sim:servers=2,service=1ms,size=1G");
	m = &g.result.rows[0].meter;
	for (i = 0; i < DEPTH_LEVELS; i++)
		CU_ASSERT_EQUAL(m->depth_level[i], want[i]);
	CU_ASSERT_EQUAL(m->sends, 0); /* sim keeps nothing back */
	engine_release(&g);
}

/* A window is not cut to its busy part: where the time ends a row, what was
 * empty at its end is in the rate. One I/O a second is one a second. */
static void test_empty_end(void)
{
	static const char *const paces[] = {"rate_iops=1", "thinktime=999ms"};
	char job[256];
	struct engine g;
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(job, sizeof(job),
			 "[j]\nrw=randread\nbs=4k\nruntime=3\ntime_based\n%s\n",
			 paces[i]);
		engine_run(&g, job, "sim:servers=1,service=1ms,size=1G");
		CU_ASSERT_EQUAL(op_of(&g, 0, OP_READ)->ios, 3);
		ENGINE_NEAR(engine_window_s(&g, 0), 3, 0);
		ENGINE_NEAR(g.result.rows[0].meter.outstanding_ns, 3e6, 0);
		check_little(&g, 0, OP_READ, 1e-9);
		engine_release(&g);
	}
	engine_run(&g,
		   "[j]\nrw=randread\nbs=4k\nruntime=5\ntime_based\n"
		   "thinktime=10s\n",
		   "sim:servers=1,service=1ms,size=1G");
	CU_ASSERT_EQUAL_FATAL(g.result.rows[0].meter.nr_series, 5);
	CU_ASSERT_EQUAL(g.result.rows[0].meter.series[4].ios[OP_READ], 0);
	engine_release(&g);
}

static void test_amount(void)
{
	struct engine g;

	engine_run(&g, "[j]\nrw=write\nbs=64k\niodepth=4\nsize=16m\nloops=2\n",
		   "sim:servers=2,service=1ms,size=1G");
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_WRITE)->bytes, 32 << 20);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_WRITE)->ios, 512);
	CU_ASSERT_EQUAL(g.result.rows[0].window_end_ns, 256 * NS_PER_MSEC);
	engine_release(&g);
}

/* A flush waits for the writes before it, and nothing starts while it runs:
 * four writes at once, then one flush, make 2 ms a round. */
static void test_flush_is_a_barrier(void)
{
	struct engine g;

	engine_run(&g,
		   "[j]\nrw=randwrite\nbs=4k\niodepth=8\nfsync=4\n"
		   "number_ios=4000\n",
		   "sim:servers=8,service=1ms,size=1G");
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_WRITE)->ios, 4000);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_FLUSH)->ios, 1000);
	CU_ASSERT_EQUAL(g.result.rows[0].window_end_ns, 2 * NS_PER_SEC);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_FLUSH)->response->max_ns, NS_PER_MSEC);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_WRITE)->response->max_ns, NS_PER_MSEC);
	engine_release(&g);
}

/* The flush of end_fsync comes at the end of the time, too, uncounted. */
static void test_end_fsync(void)
{
	struct engine g;

	engine_run(&g,
		   "[j]\nrw=randwrite\nbs=4k\niodepth=8\nend_fsync=1\n"
		   "runtime=1\ntime_based\n",
		   "sim:servers=8,service=1ms,size=1G");
	/* Its time is in the rate, whatever ends the row... */
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_FLUSH)->ios, 1);
	ENGINE_NEAR(engine_window_s(&g, 0), 1.001, 0);
	check_little(&g, 0, OP_WRITE, 0.01);
	engine_release(&g);
	engine_run(&g,
		   "[j]\nrw=randwrite\nbs=4k\niodepth=8\nend_fsync=1\n"
		   "size=4m\n",
		   "sim:servers=8,service=1ms,size=1G");
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_FLUSH)->ios, 1);
	ENGINE_NEAR(engine_window_s(&g, 0), 0.129, 0);
	engine_release(&g);
	/* ... but for a steady window, which ends before it. */
	engine_run(&g,
		   "[j]\nrw=randwrite\nbs=4k\niodepth=8\nend_fsync=1\n"
		   "ramp_time=1\nruntime=1\ntime_based\n",
		   "sim:servers=8,service=1ms,size=1G");
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_FLUSH)->ios, 0);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_FLUSH)->outside_ios, 1);
	ENGINE_NEAR(engine_window_s(&g, 0), 1, 0);
	engine_release(&g);
}

static void test_thinktime(void)
{
	struct engine g;

	engine_run(&g,
		   "[j]\nrw=randread\nbs=4k\niodepth=1\nthinktime=9000\n"
		   "runtime=10\ntime_based\n",
		   "sim:servers=1,service=1ms,size=1G");
	ENGINE_NEAR(engine_iops(&g, 0, OP_READ), 100, 0.001);
	engine_release(&g);
}

static void test_startdelay_and_groups(void)
{
	struct engine g;

	engine_run(&g,
		   "[global]\nbs=4k\nruntime=2\ntime_based\n"
		   "[a]\nrw=randread\n[b]\nrw=randwrite\nstartdelay=1\n"
		   "[c]\nrw=randread\nstonewall\n",
		   "sim:servers=8,service=1ms,size=1G");
	CU_ASSERT_EQUAL(g.result.nr_groups, 2);
	CU_ASSERT_EQUAL(g.result.rows[1].window_start_ns, NS_PER_SEC);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_READ)->ios, 2000);
	CU_ASSERT_EQUAL(op_of(&g, 1, OP_WRITE)->ios, 2000);
	CU_ASSERT_EQUAL(op_of(&g, 2, OP_READ)->ios, 2000);
	CU_ASSERT_EQUAL(g.result.group_start_ns[0], 0);
	CU_ASSERT_EQUAL(g.result.group_end_ns[0], 3 * NS_PER_SEC);
	CU_ASSERT_TRUE(g.result.group_start_ns[1] >= g.result.group_end_ns[0]);
	CU_ASSERT_EQUAL(g.result.nr_events, 4); /* two starts, two ends */
	engine_release(&g);
}

/* The same plan on a virtual clock gives the same result, to the bit. */
static void test_deterministic(void)
{
	static const char job[] =
		"[j]\nrw=randrw\nbs=4k\niodepth=16\nclients=3\nruntime=5\n"
		"time_based\nrate_iops=300\nrate_process=poisson\n";
	static const char url[] =
		"sim:servers=3,service=2ms,size=1G,dist=exp,seed=5";
	struct engine a, b;

	engine_run(&a, job, url);
	engine_run(&b, job, url);
	CU_ASSERT_EQUAL(a.result.duration_ns, b.result.duration_ns);
	CU_ASSERT_EQUAL(a.result.rows[0].window_end_ns,
			b.result.rows[0].window_end_ns);
	CU_ASSERT_TRUE(op_of(&a, 0, OP_READ)->ios > 1000);
	CU_ASSERT_EQUAL(memcmp(op_of(&a, 0, OP_READ)->response,
			       op_of(&b, 0, OP_READ)->response,
			       sizeof(struct hist)),
			0);
	engine_release(&a);
	engine_release(&b);
}

/* Of servers with chance in them each repeat has its own; the first has that of
 * a run without repeats. */
static void test_repeats_have_chance(void)
{
	static const char url[] = "sim:servers=2,service=1ms,size=64M,dist=exp";
	struct engine one, g;
	double mean[3];
	size_t i;

	engine_run(&one, "[j]\nrw=randread\nnumber_ios=500\n", url);
	engine_run(&g, "[j]\nrw=randread\nnumber_ios=500\nrepeats=3\n", url);
	CU_ASSERT_EQUAL_FATAL(g.result.nr_rows, 3);
	for (i = 0; i < 3; i++)
		mean[i] = hist_mean_ns(op_of(&g, i, OP_READ)->service);
	CU_ASSERT_EQUAL(mean[0],
			hist_mean_ns(op_of(&one, 0, OP_READ)->service));
	CU_ASSERT(mean[0] != mean[1] && mean[1] != mean[2] &&
		  mean[0] != mean[2]);
	engine_release(&one);
	engine_release(&g);
}

/* --- real time --- */

static unsigned int nr_open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_workers(void)
{
	struct engine g;

	engine_prepare(&g,
		       "[a]\nrw=randread\nbs=4k\niodepth=4\nnumjobs=5\n"
		       "group_reporting\nruntime=300ms\ntime_based\n"
		       "[b]\nrw=randwrite\nbs=4k\nnumjobs=2\nruntime=300ms\n"
		       "time_based\n",
		       "fault:delay=1ms:null:1G", NULL);
	g.opts.workers = 3;
	engine_go(&g);
	CU_ASSERT_EQUAL_FATAL(g.code, 0);
	CU_ASSERT_EQUAL(g.result.end, RUN_COMPLETE);
	CU_ASSERT_EQUAL(g.result.nr_workers, 3);
	CU_ASSERT_EQUAL(g.result.rows[0].nr_clients, 5);
	CU_ASSERT_TRUE(op_of(&g, 0, OP_READ)->ios > 50);
	CU_ASSERT_TRUE(op_of(&g, 1, OP_WRITE)->ios > 5);
	CU_ASSERT_TRUE(g.result.rows[0].context_switches > 0);
	engine_release(&g);
}

struct heard {
	unsigned int progress, events;
	struct run_progress last;
	char phases[4][16];
};

static void on_progress(void *user, const struct run_progress *p)
{
	struct heard *h = user;

	h->progress++;
	if (strcmp(p->phase, "running") == 0)
		h->last = *p;
}

static void on_event(void *user, const struct run_event *ev)
{
	struct heard *h = user;

	CU_ASSERT_EQUAL(ev->kind, EVENT_PHASE);
	h->events++;
}

static void test_progress(void)
{
	struct heard h = {0};
	struct engine g;

	engine_prepare(&g,
		       "[j]\nrw=randread\nbs=4k\niodepth=4\nruntime=1\n"
		       "time_based\n",
		       "fault:delay=1ms:null:1G", NULL);
	g.opts.progress_ns = 100 * NS_PER_MSEC;
	g.opts.on_progress = on_progress;
	g.opts.on_event = on_event;
	g.opts.user = &h;
	engine_go(&g);
	CU_ASSERT_EQUAL_FATAL(g.code, 0);
	CU_ASSERT_TRUE(h.progress >= 3 && h.progress <= 12);
	CU_ASSERT_EQUAL(h.events, 2);
	CU_ASSERT_TRUE(h.last.fraction > 0.3 && h.last.fraction <= 1);
	CU_ASSERT_TRUE(h.last.left_ns < NS_PER_SEC);
	CU_ASSERT_EQUAL(h.last.sessions_up, 1);
	CU_ASSERT_TRUE(h.last.ios_per_s > 50 && h.last.ios_per_s < 5000);
	ENGINE_NEAR(h.last.bytes_per_s, h.last.ios_per_s * 4096, 1e-6);
	CU_ASSERT_TRUE(h.last.p99_service_ns >= 0.9e6);
	CU_ASSERT_TRUE(h.last.mean_service_ns >= 1e6);
	engine_release(&g);
}

/* In a log a line comes now and then, perhaps one a group: it has figures. */
static void test_progress_first_of_group(void)
{
	struct heard h = {0};
	struct engine g;

	engine_prepare(&g,
		       "[global]\nrw=randread\nbs=4k\niodepth=4\n"
		       "runtime=600ms\ntime_based\n[j]\n[k]\nstonewall\n",
		       "fault:delay=1ms:null:1G", NULL);
	g.opts.progress_ns = 900 * NS_PER_MSEC;
	g.opts.on_progress = on_progress;
	g.opts.user = &h;
	engine_go(&g);
	CU_ASSERT_EQUAL_FATAL(g.code, 0);
	CU_ASSERT_EQUAL(h.last.group, 1);
	CU_ASSERT_TRUE(h.last.ios_per_s > 50);
	CU_ASSERT_TRUE(h.last.mean_service_ns >= 1e6);
	engine_release(&g);
}

/* Stopped after 300 ms: how long it took, and what is there. */
static double stopped_run(struct engine *g, const char *url, int level)
{
	uint64_t start_ns;

	engine_prepare(g,
		       "[j]\nrw=randread\nbs=4k\niodepth=4\nruntime=60\n"
		       "time_based\n[k]\nrw=randread\nstonewall\n",
		       url, NULL);
	engine_stop_soon(g, level);
	start_ns = clock_now_ns();
	engine_go(g);
	CU_ASSERT_EQUAL(g->code, 0);
	CU_ASSERT_EQUAL(g->result.end, RUN_INTERRUPTED);
	CU_ASSERT_EQUAL(g->result.rows[1].nr_clients, 0);
	CU_ASSERT_EQUAL(g->result.group_start_ns[1], UINT64_MAX);
	return (clock_now_ns() - start_ns) / 1e9;
}

static void test_stop(void)
{
	struct engine g;

	CU_ASSERT_TRUE(stopped_run(&g, "fault:delay=1ms:null:1G", 1) < 4);
	CU_ASSERT_TRUE(op_of(&g, 0, OP_READ)->ios > 10);
	engine_release(&g);
	/* Answers that take 900 ms are waited for, unless told otherwise. */
	CU_ASSERT_TRUE(stopped_run(&g, "fault:delay=900ms:null:1G", 1) >= 0.9);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_READ)->ios, 4);
	engine_release(&g);
	CU_ASSERT_TRUE(stopped_run(&g, "fault:delay=900ms:null:1G", 2) < 4);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_READ)->ios, 0);
	engine_release(&g);
	/* A target that answers no more: that time is in the rate, too. */
	stopped_run(&g, "fault:drop=10:null:1G", 2);
	CU_ASSERT_TRUE(op_of(&g, 0, OP_READ)->ios > 0);
	CU_ASSERT_TRUE(engine_window_s(&g, 0) > 0.25);
	engine_release(&g);
}

/* The amount is submitted, and the last answers do not come. */
static void test_stop_while_draining(void)
{
	struct engine g;

	engine_prepare(&g, "[j]\nrw=randread\niodepth=4\nnumber_ios=10\n",
		       "fault:drop=10:null:1G", NULL);
	engine_stop_soon(&g, 2);
	engine_go(&g);
	CU_ASSERT_EQUAL(g.result.end, RUN_INTERRUPTED);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_READ)->ios, 9);
	CU_ASSERT_TRUE(engine_window_s(&g, 0) > 0.25);
	engine_release(&g);
}

/* Amount and time are over at once: the flush comes all the same. */
static void test_end_fsync_at_the_end(void)
{
	struct engine g;

	engine_run(&g,
		   "[j]\nrw=randwrite\nbs=4k\niodepth=4\nend_fsync=1\n"
		   "number_ios=6\nruntime=1500us\n",
		   "sim:servers=4,service=1ms,size=1G");
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_WRITE)->ios, 6);
	CU_ASSERT_EQUAL(op_of(&g, 0, OP_FLUSH)->ios, 1);
	engine_release(&g);
}

static void test_stop_while_connecting(void)
{
	struct engine g;

	engine_prepare(&g, "[j]\nrw=randread\n", "fault:open_delay=60s:null:1G",
		       &(struct lun){.blocks = 1 << 21, .block_bytes = 512});
	engine_stop = 1;
	g.opts.stop = &engine_stop;
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, 0);
	CU_ASSERT_EQUAL(g.result.end, RUN_INTERRUPTED);
	CU_ASSERT_EQUAL(g.result.rows[0].nr_clients, 0);
	engine_release(&g);
}

static void test_connect_timeout(void)
{
	struct engine g;

	engine_prepare(&g, "[j]\nrw=randread\nclients=3\n",
		       "fault:open_delay=60s:null:1G",
		       &(struct lun){.blocks = 1 << 21, .block_bytes = 512});
	g.opts.initiator.connect_timeout_ns = 100 * NS_PER_MSEC;
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, -ETIMEDOUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(g.e.text, "no answer in 0.1 s"));
	engine_release(&g);
}

/* Every way to fail leaves no descriptor behind. */
static void test_errors_leak_nothing(void)
{
	unsigned int before = nr_open_fds();
	struct engine g;

	engine_prepare(&g, "[j]\nrw=randread\nclients=8\n", "block:/nowhere",
		       &(struct lun){.blocks = 1 << 21, .block_bytes = 512});
	g.opts.workers = 2;
	engine_go(&g);
	CU_ASSERT_EQUAL(g.code, -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(g.e.text, "/nowhere"));
	engine_release(&g);
	CU_ASSERT_EQUAL(nr_open_fds(), before);
}

static void test_too_many_files(void)
{
	struct rlimit old, low = {80, 80};
	struct engine g;

	if (geteuid() != 0) /* the hard limit could not be raised again */
		return;
	engine_prepare(&g, "[j]\nrw=randread\nclients=100\nsize=1m\n",
		       "null:1G", NULL);
	getrlimit(RLIMIT_NOFILE, &old);
	setrlimit(RLIMIT_NOFILE, &low);
	engine_go(&g);
	setrlimit(RLIMIT_NOFILE, &old);
	CU_ASSERT_EQUAL(g.code, -EMFILE);
	CU_ASSERT_PTR_NOT_NULL(strstr(g.e.text, "100 sessions need 264"));
	engine_release(&g);
}

UNIT_TESTS("run", {"closed loop, against theory", test_closed_loop_theory},
	   {"closed loop with ramp", test_closed_loop_with_ramp},
	   {"many clients share a target", test_many_clients},
	   {"Poisson arrivals, against theory", test_poisson},
	   {"open loop above capacity", test_open_loop_overload},
	   {"open loop below capacity", test_open_loop_on_time},
	   {"depth levels", test_depth_levels},
	   {"an empty end", test_empty_end}, {"an amount", test_amount},
	   {"a flush is a barrier", test_flush_is_a_barrier},
	   {"end_fsync", test_end_fsync}, {"think time", test_thinktime},
	   {"startdelay and groups", test_startdelay_and_groups},
	   {"same plan, same result", test_deterministic},
	   {"repeats have chance", test_repeats_have_chance},
	   {"workers", test_workers}, {"progress and events", test_progress},
	   {"progress, first of a group", test_progress_first_of_group},
	   {"stop", test_stop},
	   {"stop while draining", test_stop_while_draining},
	   {"end_fsync at the end of the time", test_end_fsync_at_the_end},
	   {"stop while connecting", test_stop_while_connecting},
	   {"connect time-out", test_connect_timeout},
	   {"errors leak nothing", test_errors_leak_nothing},
	   {"too many files", test_too_many_files})
