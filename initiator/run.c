#include "initiator/run.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "initiator/watch.h"
#include "initiator/windows.h"
#include "initiator/worker.h"

/* How often the caller's thread looks at *stop. */
#define LOOK_NS (50 * NS_PER_MSEC)

struct runner {
	const struct plan *plan;
	const struct run_opts *opts;
	struct run_result *result;
	struct watch watch;
	struct windows windows;
	uint64_t start_ns;   /* CLOCK_MONOTONIC */
	uint64_t virtual_ns; /* of the groups so far, on a virtual clock */
	uint64_t progressed_ns;
	uint64_t first_start_ns; /* of the first group's clock; 0: not yet */
	size_t nr_told; /* events of this group that on_event has seen */
};

void run_opts_init(struct run_opts *o)
{
	memset(o, 0, sizeof(*o));
	o->workers = 1;
	o->on_disconnect = DISCONNECT_REOPEN;
	o->reopen_timeout_ns = 30 * NS_PER_SEC;
	o->interval_ns = NS_PER_SEC;
	o->initiator.connect_timeout_ns = 10 * NS_PER_SEC;
	o->initiator.command_timeout_ns = 30 * NS_PER_SEC;
}

/* --- before anything runs --- */

static int check_caps(const struct plan *p, const struct run_opts *o,
		      struct err *e)
{
	static const unsigned int needs[OP_COUNT] = {
		[OP_WRITE] = CAN_WRITE,
		[OP_TRIM] = CAN_TRIM,
		[OP_FLUSH] = CAN_FLUSH,
	};
	unsigned int caps = transport_caps(o->url);
	size_t i;
	int op;

	for (i = 0; i < p->nr_rows; i++)
		for (op = 0; op < OP_COUNT; op++)
			if ((p->rows[i].ops & OP_BIT(op)) &&
			    (caps & needs[op]) != needs[op])
				return err_set(e, -EOPNOTSUPP,
					       "job \"%s\" wants %s, which "
					       "\"%s\" cannot do",
					       p->rows[i].name, op_name(op),
					       o->url->display);
	return 0;
}

/* A session has a socket, and a second one for a moment when it is opened
 * again; a block device has a file and a ring. */
static int raise_fd_limit(const struct plan *p, struct err *e)
{
	struct rlimit limit;
	size_t need = 0, i;

	for (i = 0; i < p->nr_groups; i++)
		if (p->groups[i].nr_clients > need)
			need = p->groups[i].nr_clients;
	need = 2 * need + 64;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
		return 0;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need)
		return err_set(e, -EMFILE,
			       "%zu sessions need %zu open files, and the hard "
			       "limit is %llu; raise it (ulimit -Hn) or take "
			       "fewer clients",
			       (need - 64) / 2, need,
			       (unsigned long long)limit.rlim_max);
	limit.rlim_cur = need;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return err_set(e, -errno,
			       "cannot raise the limit of open files "
			       "to %zu: %s",
			       need, strerror(errno));
	return 0;
}

static int init_result(struct runner *run, struct err *e)
{
	const struct plan *p = run->plan;
	struct run_result *r = run->result;
	size_t i;
	int code;

	r->rows = calloc(p->nr_rows, sizeof(*r->rows));
	r->group_start_ns = calloc(p->nr_groups, sizeof(uint64_t));
	r->group_end_ns = calloc(p->nr_groups, sizeof(uint64_t));
	if (!r->rows || !r->group_start_ns || !r->group_end_ns)
		return err_set(e, -ENOMEM, "no memory for a result");
	r->nr_rows = p->nr_rows;
	r->nr_groups = p->nr_groups;
	for (i = 0; i < p->nr_groups; i++)
		r->group_start_ns[i] = r->group_end_ns[i] = UINT64_MAX;
	for (i = 0; i < p->nr_rows; i++) {
		code = meter_init(&r->rows[i].meter, p->rows[i].ops,
				  run->opts->interval_ns, e);
		if (code)
			return code;
	}
	return 0;
}

/* --- a group's shared part --- */

static void release_group(struct group_run *g)
{
	free(g->row_is_stopped);
	free(g->row_error);
	free(g->row_left);
	free(g->events);
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
}

static int init_group(struct group_run *g, const struct runner *run,
		      size_t index, struct err *e)
{
	size_t nr_clients = run->plan->groups[index].nr_clients;
	pthread_condattr_t attr;
	size_t i;

	memset(g, 0, sizeof(*g));
	g->plan = run->plan;
	g->opts = run->opts;
	g->index = index;
	g->nr_workers = run->result->nr_workers;
	if (g->nr_workers > nr_clients)
		g->nr_workers = nr_clients;
	pthread_mutex_init(&g->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&g->changed, &attr);
	pthread_condattr_destroy(&attr);
	g->row_is_stopped =
		calloc(run->plan->nr_rows, sizeof(*g->row_is_stopped));
	g->row_error = calloc(run->plan->nr_rows, sizeof(*g->row_error));
	g->row_left = calloc(run->plan->nr_rows, sizeof(*g->row_left));
	if (!g->row_is_stopped || !g->row_error || !g->row_left) {
		release_group(g);
		return err_set(e, -ENOMEM, "no memory for a group");
	}
	for (i = 0; i < run->plan->nr_rows; i++)
		if (run->plan->rows[i].group == index)
			g->row_left[i] = run->plan->rows[i].nr_clients;
	return 0;
}

/* --- while it runs, on the caller's thread --- */

static uint64_t elapsed_ns(const struct runner *run, const struct group_run *g,
			   const struct worker *workers)
{
	if (!run->result->is_virtual_time)
		return clock_now_ns() - run->start_ns;
	/* One worker; the view's time is under the lock. */
	return workers[0].view.at_ns ? workers[0].view.at_ns - g->origin_ns
				     : run->virtual_ns;
}

/* Gives new events to the caller. Called with the lock, and gives it up while
 * it calls. */
static void tell_events(struct runner *run, struct group_run *g)
{
	struct run_event ev;

	while (run->nr_told < g->nr_events) {
		ev = g->events[run->nr_told++];
		if (!run->opts->on_event)
			continue;
		pthread_mutex_unlock(&g->lock);
		run->opts->on_event(run->opts->user, &ev);
		pthread_mutex_lock(&g->lock);
	}
}

static void tell_progress(struct runner *run, struct group_run *g,
			  const struct worker *workers)
{
	uint64_t now = clock_now_ns(), at_ns;

	if (!run->opts->on_progress || !run->opts->progress_ns ||
	    now - run->progressed_ns < run->opts->progress_ns)
		return;
	run->progressed_ns = now;
	at_ns = elapsed_ns(run, g, workers);
	pthread_mutex_unlock(&g->lock);
	run->opts->on_progress(run->opts->user,
			       watch_make(&run->watch, g, workers, at_ns));
	pthread_mutex_lock(&g->lock);
}

static void pass_on_stop(struct runner *run, struct group_run *g)
{
	int level = run->opts->stop ? *run->opts->stop : 0;

	if (level > STOP_NOW)
		level = STOP_NOW;
	if (level <= STOP_NOT)
		return;
	run->result->end = RUN_INTERRUPTED;
	if (atomic_load(&g->stop) < level)
		atomic_store(&g->stop, level);
}

void run_note(struct run_aside *a, enum event_kind kind, const char *text)
{
	group_note(a->group, kind, clock_now_ns(), text);
}

/* When it wants to be called again, on the clock of clock_now_ns(). Called with
 * the lock, and gives it up while it calls. */
static uint64_t call_aside(struct runner *run, struct group_run *g)
{
	uint64_t start_ns = atomic_load(&g->start_ns), now = clock_now_ns(),
		 next_ns;
	struct run_aside a = {.group = g};

	if (!run->opts->on_aside || run->result->is_virtual_time || !start_ns)
		return UINT64_MAX;
	if (now < start_ns)
		return start_ns;
	if (!run->first_start_ns)
		run->first_start_ns = start_ns;
	a.at_ns = now - run->first_start_ns;
	pthread_mutex_unlock(&g->lock);
	next_ns = run->opts->on_aside(run->opts->aside_user, &a);
	pthread_mutex_lock(&g->lock);
	return next_ns > UINT64_MAX - run->first_start_ns
		       ? UINT64_MAX
		       : run->first_start_ns + next_ns;
}

static void watch_group(struct runner *run, struct group_run *g,
			const struct worker *workers)
{
	uint64_t wait_ns = LOOK_NS, until_ns, aside_ns = UINT64_MAX, window_ns;
	struct timespec ts;

	if (run->opts->progress_ns && run->opts->progress_ns < wait_ns)
		wait_ns = run->opts->progress_ns;
	pthread_mutex_lock(&g->lock);
	while (g->nr_ended < g->nr_workers) {
		window_ns = windows_tell(&run->windows, g);
		until_ns = clock_now_ns() + wait_ns;
		if (window_ns < until_ns)
			until_ns = window_ns;
		if (aside_ns < until_ns)
			until_ns = aside_ns;
		ts.tv_sec = until_ns / NS_PER_SEC;
		ts.tv_nsec = until_ns % NS_PER_SEC;
		pthread_cond_timedwait(&g->changed, &g->lock, &ts);
		pass_on_stop(run, g);
		aside_ns = call_aside(run, g);
		tell_events(run, g);
		tell_progress(run, g, workers);
	}
	windows_tell(&run->windows, g);
	pthread_mutex_unlock(&g->lock);
}

/* --- after it --- */

static int add_clients(struct row_result *row, const struct worker *workers,
		       unsigned int nr_workers, size_t index,
		       const struct plan *p, struct err *e)
{
	const struct plan_row *pr = &p->rows[index];
	const struct plan_group *g = &p->groups[pr->group];
	const struct session *s;
	size_t i;

	row->clients = calloc(pr->nr_clients ? pr->nr_clients : 1,
			      sizeof(*row->clients));
	if (!row->clients)
		return err_set(e, -ENOMEM, "no memory for a result");
	for (i = 0; i < g->nr_clients; i++) {
		/* as worker_init() deals them out */
		s = &workers[i % nr_workers].sessions[i / nr_workers];
		if (s->setup.client->row != index ||
		    row->nr_clients == pr->nr_clients)
			continue;
		row->clients[row->nr_clients++] = s->result;
	}
	return 0;
}

static void add_usage(struct row_result *row, const struct worker_row *part)
{
	const struct worker_usage *a = &part->first_usage;
	const struct worker_usage *b = &part->last_usage;
	double share;

	if (!part->has_usage || b->worker_ios <= a->worker_ios)
		return;
	share = (double)(b->row_ios - a->row_ios) /
		(b->worker_ios - a->worker_ios);
	row->user_cpu_ns += (b->user_ns - a->user_ns) * share;
	row->system_cpu_ns += (b->system_ns - a->system_ns) * share;
	row->context_switches += (b->switches - a->switches) * share;
}

static void add_worker(struct row_result *row, const struct worker *w,
		       const struct worker_row *part)
{
	const struct worker_usage *a = &part->first_usage;
	const struct worker_usage *b = &part->last_usage;

	if (!part->has_usage || b->at_ns <= a->at_ns)
		return;
	row->workers[row->nr_workers++] = (struct worker_share){
		.number = w->number,
		.span_ns = b->at_ns - a->at_ns,
		.cpu_ns = b->user_ns - a->user_ns + b->system_ns - a->system_ns,
		.starved_ns = b->starved_ns - a->starved_ns,
		.waits = b->waits - a->waits,
	};
}

static int add_row(struct runner *run, struct group_run *g,
		   const struct worker *workers, size_t index,
		   uint64_t start_ns, struct err *e)
{
	struct row_result *row = &run->result->rows[index];
	uint64_t first_ns = UINT64_MAX, last_ns = 0, end_ns, over_ns = 0;
	const struct worker *w;
	size_t i;
	int r;

	row->error = g->row_error[index];
	row->workers = calloc(g->nr_workers, sizeof(*row->workers));
	if (!row->workers)
		return err_set(e, -ENOMEM, "no memory for a result");
	for (w = workers; w < workers + g->nr_workers; w++) {
		const struct worker_row *part = &w->rows[index];

		if (!part->nr_sessions)
			continue;
		r = meter_add(&row->meter, &part->meter, e);
		if (r)
			return r;
		add_usage(row, part);
		add_worker(row, w, part);
		if (part->window_start_ns < first_ns)
			first_ns = part->window_start_ns;
		if (w->end_ns > over_ns)
			over_ns = w->end_ns;
		for (i = 0; i < w->nr_sessions; i++) {
			if (w->sessions[i].setup.client->row != index)
				continue;
			row->meter.outstanding_ns +=
				session_depth_ns(&w->sessions[i]);
			end_ns = session_window_end_ns(&w->sessions[i]);
			if (end_ns > last_ns)
				last_ns = end_ns;
		}
	}
	/* Nothing counted: the window is the time that went by. */
	if (last_ns <= first_ns)
		last_ns = over_ns > first_ns ? over_ns : first_ns;
	row->window_start_ns = first_ns - start_ns;
	row->window_end_ns = last_ns - start_ns;
	if (last_ns > first_ns) {
		r = meter_extend_series(&row->meter, row->window_end_ns, e);
		if (r)
			return r;
	}
	return add_clients(row, workers, g->nr_workers, index, run->plan, e);
}

static int keep_events(struct runner *run, struct group_run *g, struct err *e)
{
	struct run_result *r = run->result;
	struct run_event *events, ev;
	size_t nr = r->nr_events + g->nr_events, i;

	if (g->nr_events) {
		events = realloc(r->events, nr * sizeof(*events));
		if (!events)
			return err_set(e, -ENOMEM, "no memory for the events");
		memcpy(events + r->nr_events, g->events,
		       g->nr_events * sizeof(*events));
		r->events = events;
	}
	/* Workers note in the order of the lock, which is nearly that of time:
	 * an insertion sort, and a stable one. */
	for (; r->nr_events < nr; r->nr_events++) {
		ev = r->events[r->nr_events];
		for (i = r->nr_events; i && r->events[i - 1].at_ns > ev.at_ns;
		     i--)
			r->events[i] = r->events[i - 1];
		r->events[i] = ev;
	}
	return 0;
}

/* @start_ns 0: it never started. */
static int keep_group(struct runner *run, struct group_run *g,
		      const struct worker *workers, uint64_t start_ns,
		      struct err *e)
{
	uint64_t end_ns = start_ns;
	unsigned int w;
	char text[64];
	size_t i;
	int r;

	if (start_ns) {
		for (i = 0; i < run->plan->nr_rows; i++) {
			if (run->plan->rows[i].group != g->index)
				continue;
			r = add_row(run, g, workers, i, start_ns, e);
			if (r)
				return r;
		}
		for (w = 0; w < g->nr_workers; w++)
			if (workers[w].end_ns > end_ns)
				end_ns = workers[w].end_ns;
		snprintf(text, sizeof(text), "group %zu of %zu ends",
			 g->index + 1, run->plan->nr_groups);
		group_note(g, EVENT_PHASE, end_ns, text);
		run->result->group_start_ns[g->index] = start_ns - g->origin_ns;
		run->result->group_end_ns[g->index] = end_ns - g->origin_ns;
	}
	pthread_mutex_lock(&g->lock);
	tell_events(run, g);
	pthread_mutex_unlock(&g->lock);
	return keep_events(run, g, e);
}

/* --- the whole --- */

static int start_workers(struct runner *run, struct group_run *g,
			 struct worker *workers, struct err *e)
{
	unsigned int i;
	int r;

	for (i = 0; i < g->nr_workers; i++) {
		r = worker_init(&workers[i], g, i, e);
		if (r)
			return r;
	}
	g->origin_ns = run->start_ns;
	if (run->result->is_virtual_time)
		g->origin_ns = loop_now_ns(workers[0].loop) - run->virtual_ns;
	for (i = 0; i < g->nr_workers; i++) {
		r = worker_start(&workers[i], e);
		if (r)
			return r;
	}
	return 0;
}

/* 0 when the group ran, even if it failed (r->end, r->error); -errno when it
 * did not start. */
static int run_group(struct runner *run, size_t index, struct err *e)
{
	struct worker *workers;
	struct group_run g;
	uint64_t start_ns;
	unsigned int i;
	int r;

	r = init_group(&g, run, index, e);
	if (r)
		return r;
	workers = calloc(g.nr_workers, sizeof(*workers));
	if (!workers) {
		r = err_set(e, -ENOMEM, "no memory for workers");
		goto out_group;
	}
	run->nr_told = 0;
	watch_begin(&run->watch, index, g.nr_workers);
	windows_begin(&run->windows, index);
	r = start_workers(run, &g, workers, e);
	if (r)
		atomic_store(&g.stop, STOP_NOW);
	else
		watch_group(run, &g, workers);
	for (i = 0; i < g.nr_workers; i++)
		worker_join(&workers[i]);
	if (r)
		goto out_workers;
	start_ns = atomic_load(&g.start_ns);
	watch_end(&run->watch, workers);
	r = keep_group(run, &g, workers, start_ns, e);
	if (!r && g.error.code) {
		run->result->end = RUN_FAILED;
		run->result->error = g.error;
		if (!start_ns)
			r = err_set(e, g.error.code, "%s", g.error.text);
	}
	if (run->result->is_virtual_time)
		run->virtual_ns = loop_now_ns(workers[0].loop) - g.origin_ns;

out_workers:
	for (i = 0; i < g.nr_workers; i++)
		worker_release(&workers[i]);
	free(workers);
out_group:
	release_group(&g);
	return r;
}

/* Asks between two passes whether the next, with @group, is to be. */
static bool is_enough(const struct runner *run, size_t group)
{
	const struct plan_group *g = &run->plan->groups[group];

	return run->opts->on_pass && group && g->pass > g[-1].pass &&
	       run->opts->on_pass(run->opts->pass_user, run->result,
				  g[-1].pass);
}

int run_plan(const struct plan *p, const struct run_opts *o,
	     struct run_result *r, struct err *e)
{
	struct runner run = {.plan = p, .opts = o, .result = r};
	size_t i;
	int code;

	memset(r, 0, sizeof(*r));
	r->is_virtual_time = transport_caps(o->url) & IS_VIRTUAL;
	/* A virtual clock is one loop's; so is what verifies. */
	r->nr_workers =
		r->is_virtual_time || o->verify || !o->workers ? 1 : o->workers;
	code = check_caps(p, o, e);
	if (!code)
		code = raise_fd_limit(p, e);
	if (!code)
		code = init_result(&run, e);
	if (!code)
		code = watch_init(&run.watch, p, r->nr_workers, e);
	if (!code)
		code = windows_init(&run.windows, p, o, e);
	if (code) {
		watch_release(&run.watch);
		return code;
	}
	r->start_wall_ns = clock_wall_ns();
	run.start_ns = clock_now_ns();
	for (i = 0; i < p->nr_groups && !code && r->end == RUN_COMPLETE; i++) {
		if (is_enough(&run, i))
			break;
		r->nr_passes = p->groups[i].pass;
		code = run_group(&run, i, e);
	}
	r->duration_ns = r->is_virtual_time ? run.virtual_ns
					    : clock_now_ns() - run.start_ns;
	watch_release(&run.watch);
	windows_release(&run.windows);
	if (!code)
		return 0;
	/* What ran before the failure is a result. */
	if (i > 1) {
		r->end = RUN_FAILED;
		if (!r->error.code && e)
			r->error = *e;
		return 0;
	}
	return code;
}
