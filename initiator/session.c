#include "initiator/session.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "initiator/session_io.h"
#include "initiator/session_stages.h"

/*
 * The end of the measuring window
 *
 * Counted is what was submitted inside [window start, submit end). A rate is
 * counted I/Os over the window, so the window has to end where that quotient
 * is unbiased, at queue depth q and not only for q much smaller than the
 * number of I/Os:
 *
 * - Without ramp time the run starts with empty slots: the first q I/Os start
 *   at once at the window's start, and all of their service lies inside. So
 *   must that of the last q: the window ends with the last counted completion.
 *   Ending it with the submissions would count q I/Os that are not done. But
 *   where time ends the row, the window never ends before that time: a target
 *   that answers no more, think time and low rates leave an empty end, which
 *   is as much a part of the measurement as an empty middle. (One I/O each
 *   second for 3 s is 1 a second, not 3 in the 2 s up to the last answer.)
 * - With ramp time the window starts in the middle of the work: at its start q
 *   I/Os are under way that do not count. In steady state as many I/Os are
 *   submitted in [t0, t1) as are completed in it, so submissions over t1 - t0
 *   is the rate, and the window ends with the submissions. Ending it with the
 *   last counted completion would add a service time to the window but no I/O.
 *   (When the amount, not the time, ends a row with ramp time, there is no t1,
 *   and the last counted completion has to do.)
 */
static bool ends_with_submissions(const struct session *s)
{
	return s->ended_by_time &&
	       (s->job->ramp_ns || s->last_counted_ns < s->submit_end_ns);
}

uint64_t session_window_end_ns(const struct session *s)
{
	return ends_with_submissions(s) ? s->submit_end_ns : s->last_counted_ns;
}

double session_depth_ns(const struct session *s)
{
	return ends_with_submissions(s) ? s->depth_at_end_ns
					: s->depth_at_last_ns;
}

/* A lost session is opened again at once, then after 200 ms, 400 ms, 800 ms
 * and from then on every second, until reopen_timeout_ns. One that is lost
 * again before it was up for STEADY_NS goes on in that row: a target that drops
 * each session at once must not be logged in to a thousand times a second. */
#define REOPEN_FIRST_NS (200 * NS_PER_MSEC)
#define REOPEN_MAX_NS NS_PER_SEC
#define STEADY_NS NS_PER_SEC

#define TO(state) (1u << SESSION_##state)
static const unsigned int allowed[SESSION_STATES] = {
	[SESSION_IDLE] = TO(OPENING) | TO(CLOSED),
	[SESSION_OPENING] =
		TO(READY) | TO(LOST) | TO(WAITING) | TO(CLOSING) | TO(CLOSED),
	[SESSION_READY] = TO(DRAINING) | TO(LOST) | TO(CLOSING),
	[SESSION_DRAINING] = TO(LOST) | TO(CLOSING),
	[SESSION_LOST] = TO(WAITING) | TO(CLOSING),
	[SESSION_WAITING] = TO(OPENING) | TO(CLOSED),
	[SESSION_CLOSING] = TO(CLOSED),
	[SESSION_CLOSED] = 0,
};
#undef TO

static void set_state(struct session *s, enum session_state to)
{
	enum session_state from = s->state;

	assert(allowed[from] & (1u << to));
	s->state = to;
	s->setup.events->on_state(s->setup.user, s, from, to);
}

static uint64_t now_ns(const struct session *s)
{
	return loop_now_ns(s->setup.loop);
}

static const char *display(const struct session *s)
{
	return s->setup.opts->url->display;
}

bool session_is_connected(const struct session *s)
{
	return s->state == SESSION_READY || s->state == SESSION_DRAINING;
}

void session_fail(struct session *s, const struct err *e,
		  enum error_scope scope)
{
	s->setup.events->on_error(s->setup.user, s, e, scope);
	if (scope == ERROR_ENDS_RUN)
		session_close(s);
}

/* --- opening --- */

/* Same LUN? The sentence in @e otherwise. What @was does not know counts as
 * the same; @may_grow: @was is a plan, which may use a part. */
static int check_lun(const struct lun *was, const struct lun *is, bool may_grow,
		     struct err *e)
{
	const struct {
		const char *name, *was, *is;
	} names[] = {
		{"vendor", was->vendor, is->vendor},
		{"product", was->product, is->product},
		{"serial number", was->serial, is->serial},
		{"identifier", was->naa, is->naa},
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (*names[i].was && strcmp(names[i].was, names[i].is) != 0)
			return err_set(e, -ESTALE,
				       "the LUN is another one: its %s was "
				       "\"%s\" and is \"%s\"",
				       names[i].name, names[i].was,
				       names[i].is);
	if (was->block_bytes != is->block_bytes)
		return err_set(e, -ESTALE,
			       "the LUN has changed: its block size was %u and "
			       "is %u bytes",
			       was->block_bytes, is->block_bytes);
	if (is->blocks < was->blocks ||
	    (!may_grow && is->blocks != was->blocks))
		return err_set(e, -ESTALE,
			       "the LUN has changed: its size was %llu and is "
			       "%llu blocks",
			       (unsigned long long)was->blocks,
			       (unsigned long long)is->blocks);
	return 0;
}

/* A lost session may be away until then. */
static uint64_t patience_end_ns(const struct session *s)
{
	return s->lost_ns + s->setup.opts->reopen_timeout_ns;
}

static void wait_to_open(struct session *s)
{
	uint64_t at_ns = now_ns(s);

	if (s->attempts && s->attempts < 4)
		at_ns += REOPEN_FIRST_NS << (s->attempts - 1);
	else if (s->attempts)
		at_ns += REOPEN_MAX_NS;
	if (at_ns > patience_end_ns(s))
		at_ns = patience_end_ns(s);
	set_state(s, SESSION_WAITING);
	loop_timer_set(s->setup.loop, &s->open, at_ns);
}

static void open_failed(struct session *s, const struct err *why)
{
	struct err e = *why;

	loop_timer_cancel(s->setup.loop, &s->open);
	if (!s->was_open) {
		session_fail(s, &e, ERROR_ENDS_RUN);
		return;
	}
	s->last_error = e;
	s->attempts++;
	if (!s->conn) {
		wait_to_open(s);
		return;
	}
	set_state(s, SESSION_LOST);
	s->setup.opts->transport->close(s->conn);
}

static void end_outage(struct session *s)
{
	uint64_t away_ns = now_ns(s) - s->lost_ns;
	char text[256];

	s->result.outage_ns += away_ns;
	snprintf(text, sizeof(text),
		 "session %u to %s is back after %.3f s; what was outstanding "
		 "is sent again",
		 s->setup.number, display(s), away_ns / 1e9);
	s->setup.events->on_note(s->setup.user, s, EVENT_RECONNECT, text);
}

static void on_open(void *user, const struct lun *lun, const struct err *e)
{
	struct session *s = user;
	struct err changed;

	if (s->state != SESSION_OPENING)
		return;
	if (!lun) {
		open_failed(s, e);
		return;
	}
	loop_timer_cancel(s->setup.loop, &s->open);
	if (check_lun(s->was_open ? &s->lun : &s->setup.plan->lun, lun,
		      !s->was_open, &changed)) {
		err_prefix(&changed, "%s", display(s));
		session_fail(s, &changed, ERROR_ENDS_RUN);
		return;
	}
	set_state(s, SESSION_READY);
	if (s->was_open)
		end_outage(s);
	s->was_open = true;
	s->lun = *lun;
	s->opened_ns = now_ns(s);
	s->next_scan_ns = 0;
	if (s->has_counted)
		session_begin_counts(s);
	if (s->is_stopped)
		set_state(s, SESSION_DRAINING);
	session_io_resume(s);
	session_io_fill(s);
}

/* The answer of an attempt is overdue, or the time has come for the next. */
static void on_open_timer(struct loop_timer *t)
{
	struct session *s =
		(void *)((char *)t - offsetof(struct session, open));
	const struct run_opts *o = s->setup.opts;
	struct err e;

	if (s->state == SESSION_OPENING) {
		err_set(&e, -ETIMEDOUT, "%s: no answer in %.3g s",
			o->transport->stage(s->conn), s->limit_ns / 1e9);
		open_failed(s, &e);
	} else if (now_ns(s) >= patience_end_ns(s)) {
		err_set(&e, -ENOTCONN,
			"session %u to %s was lost and could not be opened "
			"again in %.3g s: %s",
			s->setup.number, display(s), o->reopen_timeout_ns / 1e9,
			s->last_error.text);
		session_fail(s, &e, ERROR_ENDS_RUN);
	} else {
		s->setup.events->on_wants_open(s->setup.user, s);
	}
}

/* --- losing --- */

/* A target that loses connections again and again must not keep an I/O for
 * ever: 0, or the sentence for the oldest. */
static int check_patience(struct session *s, uint64_t now, struct err *e)
{
	const struct run_opts *o = s->setup.opts;
	uint64_t limit_ns =
		o->reopen_timeout_ns + o->initiator.command_timeout_ns;
	struct slot *slot;
	char what[128];

	for (slot = s->slots; slot < s->slots + s->nr_slots; slot++)
		if (slot->state != SLOT_FREE &&
		    now - slot->submit_ns > limit_ns)
			return err_set(
				e, -ETIMEDOUT,
				"%s not done in %.3g s over %u "
				"connections: %s",
				session_io_text(slot, what, sizeof(what)),
				limit_ns / 1e9, slot->attempts + 1,
				s->last_error.text);
	return 0;
}

/* Two initiators of one name throw each other out (RFC 7143 6.3.5). Only a name
 * that was asked for can be somebody else's, too. */
static const char *rival_text(const struct session *s)
{
	if (s->attempts < 2 || !*s->setup.opts->initiator.initiator_name)
		return "";
	return " again (another initiator with this name?)";
}

static void lose(struct session *s, const struct err *why)
{
	uint64_t now = now_ns(s);
	char text[256];
	struct err e;

	if (s->is_finished) {
		session_close(s);
		return;
	}
	if (now - s->opened_ns >= STEADY_NS)
		s->attempts = 0;
	else if (s->result.disconnects)
		s->attempts++;
	s->result.disconnects++;
	session_end_counts(s);
	s->lost_ns = now;
	s->last_error = *why;
	snprintf(text, sizeof(text), "session %u to %s is lost%s: %s",
		 s->setup.number, display(s), rival_text(s), why->text);
	if (s->setup.opts->on_disconnect == DISCONNECT_FAIL) {
		err_set(&e, why->code, "%s", text);
		session_fail(s, &e, ERROR_ENDS_RUN);
		return;
	}
	s->setup.events->on_note(s->setup.user, s, EVENT_DISCONNECT, text);
	if (check_patience(s, now, &e)) {
		session_fail(s, &e, ERROR_ENDS_RUN);
	} else {
		set_state(s, SESSION_LOST);
		s->setup.opts->transport->close(s->conn);
	}
}

static void on_lost(void *user, const struct err *e)
{
	struct session *s = user;

	if (s->state == SESSION_OPENING)
		open_failed(s, e);
	else if (session_is_connected(s))
		lose(s, e);
}

static void on_closed(void *user)
{
	struct session *s = user;

	s->conn = NULL;
	if (s->state == SESSION_CLOSING)
		set_state(s, SESSION_CLOSED);
	else
		wait_to_open(s);
}

void session_check(struct session *s, uint64_t now)
{
	uint64_t limit_ns = s->setup.opts->initiator.command_timeout_ns;
	struct slot *slot, *oldest = NULL;
	char what[128];
	struct err e;

	if (!session_is_connected(s) || now < s->next_scan_ns)
		return;
	/* A parked one was refused with -ENOTCONN: if no on_lost follows, the
	 * transport is wrong, but nothing may hang. */
	for (slot = s->slots; slot < s->slots + s->nr_slots; slot++)
		if ((slot->state == SLOT_FLYING ||
		     slot->state == SLOT_PARKED) &&
		    (!oldest || slot->sent_ns < oldest->sent_ns))
			oldest = slot;
	s->next_scan_ns = (oldest ? oldest->sent_ns : now) + limit_ns;
	if (s->next_scan_ns > now)
		return;
	err_set(&e, -ETIMEDOUT, "no answer to %s for %.3g s",
		session_io_text(oldest, what, sizeof(what)), limit_ns / 1e9);
	lose(s, &e);
}

/* --- the end --- */

static void finish(struct session *s)
{
	if (s->is_finished)
		return;
	s->is_finished = true;
	session_end_counts(s);
	loop_timer_cancel(s->setup.loop, &s->fill);
	loop_timer_cancel(s->setup.loop, &s->end);
	s->setup.events->on_finished(s->setup.user, s);
}

void session_progressed(struct session *s)
{
	if (s->is_stopped && !s->nr_outstanding && !s->has_next)
		finish(s);
}

void session_exhausted(struct session *s)
{
	s->is_stopped = true;
	if (s->state == SESSION_READY)
		set_state(s, SESSION_DRAINING);
}

/* What was to come next is forgotten: it was never submitted. */
static void stop_by_time(struct session *s, uint64_t at_ns)
{
	/* One that only waits for its last answers is stopped by time, too:
	 * that wait is in its window. */
	if (s->is_finished || s->ended_by_time)
		return;
	s->is_stopped = true;
	s->ended_by_time = true;
	s->has_next = false;
	loop_timer_cancel(s->setup.loop, &s->fill);
	loop_timer_cancel(s->setup.loop, &s->end);
	if (at_ns < s->submit_end_ns)
		s->submit_end_ns = at_ns;
	s->depth_at_end_ns = session_io_depth_ns(s, s->submit_end_ns);
	if (s->state == SESSION_READY)
		set_state(s, SESSION_DRAINING);
}

static void on_end(struct loop_timer *t)
{
	struct session *s = (void *)((char *)t - offsetof(struct session, end));
	/* The amount was done, too, and its flush waits for the last answers.
	 */
	bool is_flush_next = s->has_next && s->next.drain_first;

	stop_by_time(s, s->submit_end_ns);
	/* end_fsync, when everything before it is done. */
	s->has_next = is_flush_next || pattern_finish(s->pattern, &s->next);
	s->next_ns = s->submit_end_ns;
	session_io_fill(s);
}

void session_stop(struct session *s, uint64_t now)
{
	stop_by_time(s, now);
	s->has_next = false;
	if (session_is_connected(s))
		session_progressed(s);
	else /* nobody waits for the target to come back */
		session_close(s);
}

void session_close(struct session *s)
{
	enum session_state from = s->state;

	if (from == SESSION_CLOSING || from == SESSION_CLOSED)
		return;
	if (s->was_open && !s->is_finished && !session_is_connected(s))
		s->result.outage_ns += now_ns(s) - s->lost_ns;
	stop_by_time(s, now_ns(s));
	s->has_next = false;
	loop_timer_cancel(s->setup.loop, &s->open);
	loop_defer_cancel(s->setup.loop, &s->kick);
	session_io_give_up(s);
	/* stop_by_time() may have gone from READY to DRAINING. */
	set_state(s, s->conn ? SESSION_CLOSING : SESSION_CLOSED);
	finish(s);
	if (s->conn && from != SESSION_LOST)
		s->setup.opts->transport->close(s->conn);
}

/* --- the life --- */

void session_open(struct session *s)
{
	static const struct conn_events events = {
		.on_open = on_open,
		.on_io = session_io_done,
		.on_lost = on_lost,
		.on_closed = on_closed,
	};
	const struct run_opts *o = s->setup.opts;
	/* Not the plan's LUN as `known`: each session looks for itself whether
	 * it got the LUN that was looked at before the run. */
	const struct conn_setup setup = {
		.loop = s->setup.loop,
		.url = o->url,
		.opts = &o->initiator,
		.number = s->setup.number,
		.depth = s->nr_slots,
		.repeat = s->setup.plan->rows[s->setup.client->row].repeat,
		.events = &events,
		.user = s,
	};
	uint64_t now = now_ns(s);
	struct err e;

	s->limit_ns = o->initiator.connect_timeout_ns;
	if (s->was_open && now + s->limit_ns > patience_end_ns(s))
		/* 0 when it had to wait too long for its turn */
		s->limit_ns =
			patience_end_ns(s) > now ? patience_end_ns(s) - now : 0;
	set_state(s, SESSION_OPENING);
	if (o->transport->open(&s->conn, &setup, &e)) {
		s->conn = NULL;
		open_failed(s, &e);
		return;
	}
	loop_timer_set(s->setup.loop, &s->open, now + s->limit_ns);
}

/* Clients that share a linear rate would all come at the same instants; each
 * starts one gap of the whole rate after the one before it. */
static uint64_t share_offset_ns(const struct session *s)
{
	const struct job_opts *o = s->job;
	int op;

	if (o->clients < 2 || o->rate_process != RATE_LINEAR)
		return 0;
	for (op = 0; op < OP_DATA_COUNT; op++)
		if ((o->ops & OP_BIT(op)) && (o->rate[op] || o->rate_iops[op]))
			return s->setup.client->number *
			       pace_cost_ns(o, op, pace_mean_bytes(o, op));
	return 0;
}

void session_start(struct session *s, uint64_t start_ns)
{
	const struct job_opts *o = s->job;
	uint64_t begin_ns = start_ns + o->startdelay_ns;
	struct slot *slot;

	s->start_ns = start_ns;
	s->begin_ns = begin_ns;
	s->window_start_ns = begin_ns + o->ramp_ns;
	s->submit_end_ns = UINT64_MAX;
	if (o->runtime_ns)
		s->submit_end_ns = s->window_start_ns + o->runtime_ns;
	s->depth_since_ns = begin_ns;
	pace_init(&s->pace, o, o->clients > 1 ? 1.0 / o->clients : 1,
		  rng_derive(s->setup.client->seed, STREAM_PACE),
		  begin_ns + share_offset_ns(s));
	for (slot = s->slots; slot < s->slots + s->nr_slots; slot++) {
		slot->free_ns = begin_ns;
		slot->next_free = slot + 1;
	}
	s->free_first = s->slots;
	s->free_last = slot - 1;
	s->free_last->next_free = NULL;
	s->is_started = true;
	if (o->runtime_ns)
		loop_timer_set(s->setup.loop, &s->end, s->submit_end_ns);
	loop_timer_set(s->setup.loop, &s->fill, begin_ns);
}

int session_init(struct session *s, const struct session_setup *setup,
		 struct err *e)
{
	int r;

	memset(s, 0, sizeof(*s));
	s->setup = *setup;
	s->job = setup->client->opts;
	s->result.client = setup->client - setup->plan->clients;
	s->submit_end_ns = UINT64_MAX;
	s->open.on_timer = on_open_timer;
	s->end.on_timer = on_end;
	r = session_io_init(s, e);
	if (r)
		session_release(s);
	return r;
}

void session_release(struct session *s)
{
	session_io_release(s);
	memset(s, 0, sizeof(*s));
}
