#include "initiator/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/usage.h"

#define TICK_NS (50 * NS_PER_MSEC)
#define PUBLISH_NS (200 * NS_PER_MSEC)
/* How long a run that was stopped, or that failed, waits for answers. */
#define DRAIN_NS (5 * NS_PER_SEC)
#define CLOSE_NS (3 * NS_PER_SEC)
/* Workers start together; this much after the last one is ready. */
#define START_AHEAD_NS (2 * NS_PER_MSEC)

/* Logins under way at the same time, in all workers. More only make each of
 * them slower, until the last run into their time-out. */
enum { MAX_OPENING = 32 };

/* --- the group --- */

static void note_locked(struct group_run *g, enum event_kind kind,
			uint64_t at_ns, const char *text)
{
	struct run_event *ev;

	if (g->nr_events == g->cap_events) {
		size_t cap = g->cap_events ? 2 * g->cap_events : 16;

		ev = realloc(g->events, cap * sizeof(*ev));
		if (!ev) {
			g->events_are_lost = true;
			return;
		}
		g->events = ev;
		g->cap_events = cap;
	}
	ev = &g->events[g->nr_events++];
	memset(ev, 0, sizeof(*ev));
	ev->at_ns = at_ns - g->origin_ns;
	ev->kind = kind;
	ev->group = g->index;
	snprintf(ev->text, sizeof(ev->text), "%s", text);
	err_make_printable(ev->text); /* it may have been cut in a character */
	pthread_cond_signal(&g->changed);
}

void group_note(struct group_run *g, enum event_kind kind, uint64_t at_ns,
		const char *text)
{
	pthread_mutex_lock(&g->lock);
	note_locked(g, kind, at_ns, text);
	pthread_mutex_unlock(&g->lock);
}

void group_fail(struct group_run *g, const struct err *e, size_t row,
		uint64_t at_ns)
{
	int not = STOP_NOT;

	pthread_mutex_lock(&g->lock);
	if (!g->error.code) {
		g->error = *e;
		note_locked(g, EVENT_ERROR, at_ns, e->text);
	}
	if (row != SIZE_MAX && !g->row_error[row])
		g->row_error[row] = e->code;
	pthread_mutex_unlock(&g->lock);
	if (row != SIZE_MAX)
		atomic_store(&g->row_is_stopped[row], true);
	else
		atomic_compare_exchange_strong(&g->stop, &not, STOP_DRAIN);
}

/* The last one to be ready says when all start. */
static void say_ready(struct worker *w)
{
	struct group_run *g = w->group;
	uint64_t start_ns = loop_now_ns(w->loop);
	const struct plan_row *row = NULL;
	char text[256];
	size_t i;

	pthread_mutex_lock(&g->lock);
	if (++g->nr_ready == g->nr_workers) {
		if (g->nr_workers > 1)
			start_ns += START_AHEAD_NS;
		for (i = 0; i < g->plan->nr_rows && !row; i++)
			if (g->plan->rows[i].group == g->index)
				row = &g->plan->rows[i];
		snprintf(text, sizeof(text), "group %zu of %zu starts: %s%s",
			 g->index + 1, g->plan->nr_groups, row ? row->name : "",
			 i < g->plan->nr_rows &&
					 g->plan->rows[i].group == g->index
				 ? ", ..."
				 : "");
		note_locked(g, EVENT_PHASE, start_ns, text);
		atomic_store(&g->start_ns, start_ns);
	}
	pthread_mutex_unlock(&g->lock);
}

/* --- what sessions tell --- */

static void on_state(void *user, struct session *s, enum session_state from,
		     enum session_state to)
{
	struct worker *w = user;
	bool was_up = from == SESSION_READY || from == SESSION_DRAINING;
	bool is_up = to == SESSION_READY || to == SESSION_DRAINING;

	w->nr_up += is_up - was_up;
	if (from == SESSION_OPENING) {
		w->nr_opening--;
		loop_defer(w->loop, &w->gate);
	}
	if (to == SESSION_OPENING)
		w->nr_opening++;
	if (to == SESSION_READY && !s->was_open)
		w->nr_ready++;
	if (to == SESSION_CLOSED)
		w->nr_closed++;
}

static void on_wants_open(void *user, struct session *s)
{
	struct worker *w = user;

	w->wants_open[(w->first_wanting + w->nr_wanting++) % w->nr_sessions] =
		s;
	loop_defer(w->loop, &w->gate);
}

static void on_gate(struct loop_task *t)
{
	struct worker *w = (void *)((char *)t - offsetof(struct worker, gate));
	struct session *s;

	while (w->nr_wanting && w->nr_opening < w->max_opening) {
		s = w->wants_open[w->first_wanting];
		w->first_wanting = (w->first_wanting + 1) % w->nr_sessions;
		w->nr_wanting--;
		if (s->state == SESSION_IDLE || s->state == SESSION_WAITING)
			session_open(s);
	}
}

static void read_usage(struct worker *w, struct worker_row *row,
		       struct worker_usage *u)
{
	struct rusage ru;
	int op;

	getrusage(RUSAGE_THREAD, &ru);
	u->at_ns = loop_now_ns(w->loop);
	u->user_ns = ru.ru_utime.tv_sec * NS_PER_SEC +
		     ru.ru_utime.tv_usec * NS_PER_USEC;
	u->system_ns = ru.ru_stime.tv_sec * NS_PER_SEC +
		       ru.ru_stime.tv_usec * NS_PER_USEC;
	u->switches = ru.ru_nvcsw + ru.ru_nivcsw;
	u->waits = ru.ru_nvcsw;
	u->starved_ns = usage_starved_ns();
	u->worker_ios = w->live.ios;
	u->row_ios = 0;
	for (op = 0; op < OP_COUNT; op++)
		u->row_ios +=
			row->meter.op[op].ios + row->meter.op[op].outside_ios;
}

static void on_window(struct loop_timer *t)
{
	struct worker_row *row =
		(void *)((char *)t - offsetof(struct worker_row, window));

	row->has_usage = true;
	read_usage(row->worker, row, &row->first_usage);
}

static void say_finished(struct group_run *g, size_t row, size_t sessions)
{
	pthread_mutex_lock(&g->lock);
	g->row_left[row] -= sessions;
	if (!g->row_left[row])
		pthread_cond_signal(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

static void on_finished(void *user, struct session *s)
{
	struct worker *w = user;
	struct worker_row *row = &w->rows[s->setup.client->row];

	w->nr_unfinished--;
	if (--row->nr_unfinished)
		return;
	loop_timer_cancel(w->loop, &row->window);
	if (row->has_usage)
		read_usage(w, row, &row->last_usage);
	say_finished(w->group, s->setup.client->row, row->nr_sessions);
}

static void stop_row(struct worker *w, size_t row)
{
	uint64_t now = loop_now_ns(w->loop);
	size_t i;

	for (i = 0; i < w->nr_sessions; i++)
		if (w->sessions[i].setup.client->row == row)
			session_stop(&w->sessions[i], now);
}

static void on_error(void *user, struct session *s, const struct err *e,
		     enum error_scope scope)
{
	struct worker *w = user;
	size_t row = s->setup.client->row;

	group_fail(w->group, e, scope == ERROR_ENDS_ROW ? row : SIZE_MAX,
		   loop_now_ns(w->loop));
	if (scope == ERROR_ENDS_ROW)
		stop_row(w, row);
	else
		loop_timer_set(w->loop, &w->tick, 0);
}

static void on_note(void *user, struct session *s, enum event_kind kind,
		    const char *text)
{
	struct worker *w = user;

	(void)s;
	group_note(w->group, kind, loop_now_ns(w->loop), text);
}

/* --- the tick --- */

static void publish(struct worker *w, uint64_t now)
{
	struct worker_view *v = &w->view;
	size_t i;

	w->published_ns = now;
	w->nr_submitting = 0;
	for (i = 0; i < w->nr_sessions; i++)
		w->nr_submitting += !w->sessions[i].is_stopped;
	pthread_mutex_lock(&w->group->lock);
	v->at_ns = now;
	v->live = w->live;
	v->sessions_up = w->nr_up;
	v->sessions_down = w->nr_sessions - w->nr_up;
	v->is_draining = !w->nr_submitting;
	pthread_mutex_unlock(&w->group->lock);
}

static void obey(struct worker *w, uint64_t now)
{
	int level = atomic_load(&w->group->stop);
	size_t i;

	if (level > w->stop_seen) {
		w->stop_seen = level;
		w->drain_until_ns = now + (level == STOP_NOW ? 0 : DRAIN_NS);
		for (i = 0; i < w->nr_sessions; i++)
			session_stop(&w->sessions[i], now);
	}
	for (i = 0; i < w->group->plan->nr_rows; i++) {
		if (!w->rows[i].nr_unfinished ||
		    !atomic_load(&w->group->row_is_stopped[i]))
			continue;
		stop_row(w, i);
		if (!w->drain_until_ns)
			w->drain_until_ns = now + DRAIN_NS;
	}
}

/* Gives up what was stopped and has not drained in time. */
static void end_drain(struct worker *w, uint64_t now)
{
	size_t i;

	if (!w->drain_until_ns || now < w->drain_until_ns)
		return;
	w->drain_until_ns = 0;
	for (i = 0; i < w->nr_sessions; i++)
		if (w->stop_seen ||
		    atomic_load(&w->group->row_is_stopped
					 [w->sessions[i].setup.client->row]))
			if (!w->sessions[i].is_finished)
				session_close(&w->sessions[i]);
}

static void on_tick(struct loop_timer *t)
{
	struct worker *w = (void *)((char *)t - offsetof(struct worker, tick));
	uint64_t now = loop_now_ns(w->loop);
	size_t i;

	loop_timer_set(w->loop, &w->tick, now + TICK_NS);
	for (i = 0; i < w->nr_sessions; i++)
		session_check(&w->sessions[i], now);
	obey(w, now);
	end_drain(w, now);
	if (now - w->published_ns >= PUBLISH_NS)
		publish(w, now);
}

/* --- the phases --- */

static bool is_stopped(const struct worker *w)
{
	return atomic_load(&w->group->stop) != STOP_NOT;
}

/* A loop that fails would spin: end the run instead. */
static bool turn(struct worker *w, uint64_t max_wait_ns)
{
	int r = loop_turn(w->loop, max_wait_ns);
	struct err e;

	if (!r)
		return true;
	err_set(&e, r, "the event loop failed: %s", strerror(-r));
	group_fail(w->group, &e, SIZE_MAX, loop_now_ns(w->loop));
	return false;
}

static void open_sessions(struct worker *w)
{
	size_t i;

	for (i = 0; i < w->nr_sessions; i++)
		on_wants_open(w, &w->sessions[i]);
	while (w->nr_ready < w->nr_sessions && !is_stopped(w))
		if (!turn(w, UINT64_MAX))
			return;
}

/* 0 when the run is stopped before. */
static uint64_t wait_for_start(struct worker *w)
{
	uint64_t start_ns;

	say_ready(w);
	while (!(start_ns = atomic_load(&w->group->start_ns)) && !is_stopped(w))
		if (!turn(w, NS_PER_MSEC))
			return 0;
	return start_ns;
}

static void start_sessions(struct worker *w, uint64_t start_ns)
{
	struct worker_row *row;
	size_t i;

	for (i = 0; i < w->nr_sessions; i++) {
		session_start(&w->sessions[i], start_ns);
		row = &w->rows[w->sessions[i].setup.client->row];
		if (w->sessions[i].window_start_ns < row->window_start_ns) {
			row->window_start_ns = w->sessions[i].window_start_ns;
			loop_timer_set(w->loop, &row->window,
				       row->window_start_ns);
		}
	}
}

static void close_sessions(struct worker *w)
{
	uint64_t until_ns, given_up = 0;
	char text[128];
	size_t i;

	for (i = 0; i < w->nr_sessions; i++)
		session_close(&w->sessions[i]);
	until_ns = loop_now_ns(w->loop) + CLOSE_NS;
	while (w->nr_closed < w->nr_sessions && loop_now_ns(w->loop) < until_ns)
		if (!turn(w, UINT64_MAX))
			break;
	w->is_stuck = w->nr_closed < w->nr_sessions;
	for (i = 0; i < w->nr_sessions; i++)
		given_up += w->sessions[i].nr_given_up;
	if (!given_up)
		return;
	snprintf(text, sizeof(text),
		 "%llu I/Os were given up without an answer",
		 (unsigned long long)given_up);
	group_note(w->group, EVENT_NOTICE, loop_now_ns(w->loop), text);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	uint64_t start_ns;

	/* The default slack would make every paced I/O 50 us late. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	loop_timer_set(w->loop, &w->tick, 0);
	open_sessions(w);
	start_ns = is_stopped(w) ? 0 : wait_for_start(w);
	if (start_ns) {
		start_sessions(w, start_ns);
		while (w->nr_unfinished && turn(w, UINT64_MAX))
			;
	}
	w->end_ns = loop_now_ns(w->loop);
	close_sessions(w);
	publish(w, loop_now_ns(w->loop));

	pthread_mutex_lock(&w->group->lock);
	w->group->nr_ended++;
	pthread_cond_signal(&w->group->changed);
	pthread_mutex_unlock(&w->group->lock);
	return NULL;
}

/* --- the life --- */

static bool has_tap(const struct run_opts *o)
{
	return o->transport->counts && !o->initiator.plain_wire;
}

static int init_row(struct worker *w, size_t i, struct err *e)
{
	struct worker_row *row = &w->rows[i];
	int code;

	row->nr_sessions++;
	row->nr_unfinished++;
	if (row->nr_sessions > 1)
		return 0;
	row->worker = w;
	row->window.on_timer = on_window;
	row->window_start_ns = UINT64_MAX;
	code = meter_init(&row->meter, w->group->plan->rows[i].ops,
			  w->group->opts->interval_ns, e);
	if (!code && has_tap(w->group->opts))
		code = meter_add_stages(&row->meter, e);
	return code;
}

static int init_sessions(struct worker *w, struct err *e)
{
	static const struct session_events events = {
		.on_state = on_state,
		.on_finished = on_finished,
		.on_error = on_error,
		.on_note = on_note,
		.on_wants_open = on_wants_open,
	};
	const struct plan *p = w->group->plan;
	const struct plan_group *g = &p->groups[w->group->index];
	struct session_setup setup = {
		.loop = w->loop,
		.plan = p,
		.opts = w->group->opts,
		.live = &w->live,
		.events = &events,
		.user = w,
	};
	size_t i;
	int r;

	for (i = w->number; i < g->nr_clients; i += w->group->nr_workers) {
		setup.client = &p->clients[g->first_client + i];
		setup.number = g->first_client + i;
		r = init_row(w, setup.client->row, e);
		if (r)
			return r;
		setup.meter = &w->rows[setup.client->row].meter;
		r = session_init(&w->sessions[w->nr_sessions], &setup, e);
		if (r)
			return r;
		w->nr_sessions++;
	}
	return 0;
}

int worker_init(struct worker *w, struct group_run *g, unsigned int number,
		struct err *e)
{
	size_t max = g->plan->groups[g->index].nr_clients / g->nr_workers + 1;
	int r;

	memset(w, 0, sizeof(*w));
	w->group = g;
	w->number = number;
	w->tick.on_timer = on_tick;
	w->gate.on_task = on_gate;
	w->max_opening = MAX_OPENING / g->nr_workers;
	if (!w->max_opening)
		w->max_opening = 1;
	r = loop_new(&w->loop, transport_caps(g->opts->url) & IS_VIRTUAL, e);
	if (r)
		return r;
	w->rows = calloc(g->plan->nr_rows, sizeof(*w->rows));
	w->sessions = calloc(max, sizeof(*w->sessions));
	w->wants_open = calloc(max, sizeof(struct session *));
	if (!w->rows || !w->sessions || !w->wants_open)
		return err_set(e, -ENOMEM, "no memory for %zu sessions", max);
	r = init_sessions(w, e);
	w->nr_unfinished = w->nr_sessions;
	return r;
}

int worker_start(struct worker *w, struct err *e)
{
	sigset_t all, before;
	int r;

	/* Signals are for the thread that called run_plan. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&w->thread, NULL, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return err_set(e, -r, "cannot start worker %u: %s", w->number,
			       strerror(r));
	w->has_thread = true;
	return 0;
}

void worker_join(struct worker *w)
{
	if (w->has_thread)
		pthread_join(w->thread, NULL);
	w->has_thread = false;
}

void worker_release(struct worker *w)
{
	size_t i;

	if (!w->group)
		return;
	for (i = 0; w->rows && i < w->group->plan->nr_rows; i++)
		meter_release(&w->rows[i].meter);
	free(w->rows);
	free(w->wants_open);
	/* A hung disk may still write into the buffers of a session that does
	 * not close: leaking them is the smaller evil. */
	if (!w->is_stuck) {
		for (i = 0; i < w->nr_sessions; i++)
			session_release(&w->sessions[i]);
		free(w->sessions);
		loop_free(w->loop);
	}
	memset(w, 0, sizeof(*w));
}
