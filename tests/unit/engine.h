#ifndef TESTS_ENGINE_H
#define TESTS_ENGINE_H

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base/clock.h"
#include "initiator/run.h"
#include "tests/unit/unit.h"
#include "workloads/jobfile.h"

/* A job's text and a URL to a result, for tests of the engine. */
struct engine {
	struct jobset set;
	struct plan plan;
	struct url url;
	struct run_opts opts;
	struct run_result result;
	struct err e;
	int code; /* of run_plan() */
};

/* @lun NULL: what a probe says. Fatal when the plan cannot be made. */
static inline void engine_prepare(struct engine *g, const char *job,
				  const char *url, const struct lun *lun)
{
	struct jobfile f = {0};
	struct lun probed;
	int r;

	memset(g, 0, sizeof(*g));
	run_opts_init(&g->opts);
	r = url_parse(&g->url, url, true, NULL, &g->e);
	if (!r)
		r = jobfile_parse(&f, "test", job, strlen(job), &g->e);
	if (!r)
		r = jobset_build(&g->set, &f, NULL, 0, &g->e);
	if (!r && !lun) {
		r = transport_probe(&g->url, &g->opts.initiator, &probed, NULL,
				    &g->e);
		lun = &probed;
	}
	if (!r)
		r = plan_build(&g->plan, &g->set, lun, 7, &g->e);
	if (r)
		printf("# %s: %s\n", url, g->e.text);
	CU_ASSERT_EQUAL_FATAL(r, 0);
	jobfile_release(&f);
	g->opts.url = &g->url;
	g->opts.transport = transport_find(g->url.scheme, &g->e);
}

static inline void engine_go(struct engine *g)
{
	g->code = run_plan(&g->plan, &g->opts, &g->result, &g->e);
}

static inline void engine_run(struct engine *g, const char *job,
			      const char *url)
{
	engine_prepare(g, job, url, NULL);
	engine_go(g);
	if (g->code)
		printf("# %s: %s\n", url, g->e.text);
	CU_ASSERT_EQUAL_FATAL(g->code, 0);
}

static inline void engine_release(struct engine *g)
{
	run_result_release(&g->result);
	plan_release(&g->plan);
	jobset_release(&g->set);
}

/* As a person does it: by a signal, 300 ms from now. */
static volatile sig_atomic_t engine_stop;
static int engine_stop_level;

static inline void engine_on_alarm(int signal_number)
{
	(void)signal_number;
	engine_stop = engine_stop_level;
}

static inline void engine_stop_soon(struct engine *g, int level)
{
	struct itimerval in = {.it_value.tv_usec = 300000};

	engine_stop = 0;
	engine_stop_level = level;
	g->opts.stop = &engine_stop;
	signal(SIGALRM, engine_on_alarm);
	setitimer(ITIMER_REAL, &in, NULL);
}

static inline double engine_window_s(const struct engine *g, size_t row)
{
	const struct row_result *r = &g->result.rows[row];

	return (r->window_end_ns - r->window_start_ns) / 1e9;
}

static inline double engine_iops(const struct engine *g, size_t row,
				 enum io_op op)
{
	return g->result.rows[row].meter.op[op].ios / engine_window_s(g, row);
}

/* Asserts |is - want| <= share * want, and shows both when not. */
#define ENGINE_NEAR(is, want, share)                                     \
	do {                                                             \
		double is_ = (is), want_ = (want);                       \
		bool near_ = is_ <= want_ * (1 + (share)) + 1e-9 &&      \
			     is_ >= want_ * (1 - (share)) - 1e-9;        \
		if (!near_)                                              \
			printf("# %s:%d: %.9g, wanted %.9g\n", __FILE__, \
			       __LINE__, is_, want_);                    \
		CU_ASSERT_TRUE(near_);                                   \
	} while (0)

#endif
