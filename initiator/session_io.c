#include "initiator/session_io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "initiator/retry.h"
#include "initiator/session_stages.h"

enum { PAGE_BYTES = 4096 };

static uint64_t now_ns(const struct session *s)
{
	return loop_now_ns(s->setup.loop);
}

char *session_io_text(const struct slot *slot, char *buf, size_t size)
{
	uint32_t block = slot->session->setup.plan->lun.block_bytes;
	const struct io *io = &slot->io;

	if (io->op == OP_FLUSH)
		snprintf(buf, size, "%s", op_name(io->op));
	else
		snprintf(buf, size, "%s of %u blocks at LBA %llu",
			 op_name(io->op), io->length_bytes / block,
			 (unsigned long long)io->offset_bytes / block);
	return buf;
}

/* --- slots --- */

static void push_free(struct session *s, struct slot *slot, uint64_t free_ns)
{
	slot->state = SLOT_FREE;
	slot->free_ns = free_ns;
	slot->next_free = NULL;
	if (s->free_first)
		s->free_last->next_free = slot;
	else
		s->free_first = slot;
	s->free_last = slot;
}

static struct slot *pop_free(struct session *s)
{
	struct slot *slot = s->free_first;

	s->free_first = slot->next_free;
	return slot;
}

double session_io_depth_ns(const struct session *s, uint64_t at_ns)
{
	uint64_t low = s->depth_since_ns;

	if (low < s->window_start_ns)
		low = s->window_start_ns;
	if (at_ns <= low)
		return s->depth_ns;
	return s->depth_ns + (double)(at_ns - low) * s->nr_outstanding;
}

/* Adds depth x time since the last change, as far as it lies in the measuring
 * window: with the number of I/Os this gives Little's law something to check.
 */
static void account_depth(struct session *s, uint64_t now)
{
	s->depth_ns = session_io_depth_ns(s, now);
	s->depth_since_ns = now;
}

/* Takes the I/O out of an integral that goes up to @end_ns. */
static void forget_depth(const struct session *s, const struct slot *slot,
			 double *depth_ns, uint64_t end_ns)
{
	uint64_t from_ns = slot->submit_ns;

	if (from_ns < s->window_start_ns)
		from_ns = s->window_start_ns;
	if (end_ns > from_ns)
		*depth_ns -= end_ns - from_ns;
}

/* What failed or was given up is in no rate and no histogram, so it has no
 * place in Little's law either. */
static void forget_io(struct session *s, const struct slot *slot, uint64_t now)
{
	uint64_t end_ns = s->submit_end_ns < now ? s->submit_end_ns : now;

	account_depth(s, now);
	forget_depth(s, slot, &s->depth_ns, now);
	forget_depth(s, slot, &s->depth_at_last_ns, s->last_counted_ns);
	if (s->ended_by_time)
		forget_depth(s, slot, &s->depth_at_end_ns, end_ns);
}

/* The slot's I/O is over, well or badly. */
static void end_io(struct session *s, struct slot *slot, uint64_t now)
{
	account_depth(s, now);
	s->nr_outstanding--;
	s->last_done_ns = now;
	if (slot->io.op == OP_FLUSH) {
		s->is_flushing = false;
		s->barrier_ns = now;
	} else if (slot->io.op != OP_READ) {
		s->nr_writing--;
	}
	push_free(s, slot, now);
}

static void end_well(struct session *s, struct slot *slot, uint64_t now)
{
	uint32_t bytes = slot->io.length_bytes;

	meter_record(s->setup.meter, slot->io.op, bytes, slot->counted,
		     slot->intended_ns, slot->submit_ns, now,
		     now - s->start_ns);
	if (slot->counted)
		session_record_stages(s, slot, now);
	live_record(s->setup.live, bytes, now - slot->submit_ns);
	end_io(s, slot, now);
	if (slot->counted) {
		s->result.ios++;
		s->result.bytes += bytes;
		s->last_counted_ns = now;
		s->depth_at_last_ns = s->depth_ns;
	}
	pace_completed(&s->pace, &slot->request, now);
}

static void end_badly(struct session *s, struct slot *slot, uint64_t now)
{
	const struct io *io = &slot->io;
	struct error_sample sample = {
		.at_ns = now - s->start_ns,
		.op = io->op,
		.offset_bytes = io->offset_bytes,
		.length_bytes = io->length_bytes,
		.result = io->result,
		.count = 1,
	};
	const char *url = s->setup.opts->url->display;
	char what[128];
	struct err e;

	transport_describe_detail(io, sample.text, sizeof(sample.text));
	meter_record_error(s->setup.meter, &sample, slot->counted);
	s->setup.live->errors++;
	session_io_text(slot, what, sizeof(what));
	if (slot->attempts)
		err_set(&e, io->result, "%s of %s failed after %u retries: %s",
			what, url, slot->attempts, sample.text);
	else
		err_set(&e, io->result, "%s of %s failed: %s", what, url,
			sample.text);
	if (s->setup.opts->verify)
		verify_failed(s->setup.opts->verify, &slot->verify, &slot->io);
	forget_io(s, slot, now);
	end_io(s, slot, now);
	pace_completed(&s->pace, &slot->request, now);
	if (!(s->job->continue_on_error & OP_BIT(io->op)))
		session_fail(s, &e, ERROR_ENDS_ROW);
}

/* --- sending --- */

/* A first submission or a retry. What the transport refuses outright is over
 * when this returns. */
static void send_slot(struct session *s, struct slot *slot, uint64_t now)
{
	int r;

	slot->io.result = 0;
	slot->io.times.first_ns = 0;
	memset(&slot->io.detail, 0, sizeof(slot->io.detail));
	slot->sent_ns = now;
	slot->state = SLOT_FLYING;
	r = s->setup.opts->transport->submit(s->conn, &slot->io);
	if (!r) {
		loop_defer(s->setup.loop, &s->kick);
	} else if (r == -ENOTCONN) {
		/* on_lost is on its way; then this goes with the others. */
		slot->state = SLOT_PARKED;
	} else {
		slot->io.result = r;
		end_badly(s, slot, now_ns(s));
	}
}

static void on_pause_over(struct loop_timer *t)
{
	struct slot *slot = (void *)((char *)t - offsetof(struct slot, pause));
	struct session *s = slot->session;

	slot->state = SLOT_PARKED;
	if (!session_is_connected(s))
		return;
	send_slot(s, slot, now_ns(s));
	session_io_fill(s);
}

/* In the measuring window, or the flush of end_fsync: whoever asks for that
 * wants its time in the rate, as fio has it. (With ramp time the window ends
 * with the submissions.) */
static bool is_counted(const struct session *s, uint64_t now)
{
	if (now < s->window_start_ns)
		return false;
	return now < s->submit_end_ns ||
	       (s->next.drain_first && !s->job->ramp_ns);
}

/* Two writes to one block at once leave nothing that could be verified: the
 * later one becomes a read, which meets the other on its way. */
static void avoid_overlap(struct session *s, const struct slot *slot)
{
	if (!verify_may_send(s->setup.opts->verify, s->next.op,
			     s->next.offset_bytes, s->next.length_bytes) &&
	    s->next.length_bytes / s->setup.plan->lun.block_bytes <=
		    slot->verify.max_blocks)
		s->next.op = OP_READ;
}

/* A first submission, of s->next. */
static void submit_next(struct session *s, uint64_t now)
{
	struct slot *slot = pop_free(s);
	struct io *io = &slot->io;

	if (s->setup.opts->verify)
		avoid_overlap(s, slot);
	account_depth(s, now);
	s->has_next = false;
	s->nr_outstanding++;
	slot->request = s->next;
	slot->intended_ns = s->next_ns;
	slot->submit_ns = now;
	slot->attempts = 0;
	memset(slot->earlier_ns, 0, sizeof(slot->earlier_ns));
	slot->counted = is_counted(s, now);
	if (slot->counted && !s->has_counted)
		session_begin_counts(s);
	if (slot->counted && s->next.op != OP_FLUSH)
		meter_record_depth(s->setup.meter, s->nr_outstanding);
	io->op = s->next.op;
	io->offset_bytes = s->next.offset_bytes;
	io->length_bytes = s->next.length_bytes;
	io->buf = NULL;
	if (io->op == OP_READ) {
		io->buf = slot->read_buf;
	} else if (io->op == OP_FLUSH) {
		s->is_flushing = true;
	} else {
		s->nr_writing++;
		if (io->op == OP_WRITE)
			io->buf = slot->write_buf;
	}
	if (s->setup.opts->verify)
		verify_begin(s->setup.opts->verify, &slot->verify, io);
	send_slot(s, slot, now);
}

/* Gets s->next from the pattern, for the first free slot, and its payload
 * before any clock is read for it: making data is not the target's time. False
 * when there is none now. */
static bool pull_next(struct session *s)
{
	struct slot *slot = s->free_first;
	uint64_t free_ns = slot->free_ns;

	/* Think time: nothing until a request completes. */
	if (pace_must_wait(&s->pace))
		return false;
	if (!pattern_next(s->pattern, &s->next)) {
		session_exhausted(s);
		return false;
	}
	/* A slot that a flush kept back was not free. */
	if (free_ns < s->barrier_ns)
		free_ns = s->barrier_ns;
	s->next_ns = pace_next(&s->pace, &s->next, free_ns);
	s->has_next = true;
	if (s->next.op == OP_WRITE && !s->setup.opts->verify)
		payload_stamp(&s->payload, slot->write_buf,
			      s->next.length_bytes, s->next.offset_bytes);
	return true;
}

/*
 * A flush is a barrier for its client, as fsync is for a job of fio: it waits
 * until the client's writes and trims are done (or all, for the flush at the
 * end), and nothing else starts before it is done. The time that it waited
 * for its own writes is not its latency.
 */
static bool is_held_back(struct session *s)
{
	if (s->next.op != OP_FLUSH && !s->next.drain_first)
		return false;
	if (s->nr_writing || (s->next.drain_first && s->nr_outstanding))
		return true;
	if (s->next_ns < s->last_done_ns)
		s->next_ns = s->last_done_ns;
	return false;
}

void session_io_fill(struct session *s)
{
	struct loop *loop = s->setup.loop;
	uint64_t now;

	while (s->is_started && s->free_first && !s->is_flushing &&
	       (s->state == SESSION_READY ||
		(s->state == SESSION_DRAINING && s->has_next))) {
		if (!s->has_next && !pull_next(s))
			break;
		if (is_held_back(s))
			break;
		now = loop_now_ns(loop);
		if (s->next_ns > now) {
			loop_timer_set(loop, &s->fill, s->next_ns);
			break;
		}
		/* The timer of the end comes a little late on a busy loop. */
		if (now >= s->submit_end_ns && s->state == SESSION_READY)
			break;
		submit_next(s, now);
	}
	session_progressed(s);
}

/* --- answers --- */

/* True if the slot will be sent again. */
static bool retry(struct session *s, struct slot *slot, uint64_t now)
{
	enum retry_cause cause = retry_cause_of(&slot->io);
	uint64_t delay_ns;

	if (cause == RETRY_CAUSES)
		return false;
	delay_ns = retry_delay_ns(cause, slot->attempts);
	if (now + delay_ns - slot->submit_ns >
	    s->setup.opts->initiator.command_timeout_ns)
		return false;
	s->setup.meter->retries[cause]++;
	session_add_stages(slot, now);
	slot->attempts++;
	slot->state = SLOT_PAUSED;
	loop_timer_set(s->setup.loop, &slot->pause, now + delay_ns);
	return true;
}

static void give_up(struct session *s, struct slot *slot)
{
	uint64_t now = now_ns(s);

	s->nr_given_up++;
	if (s->setup.opts->verify)
		verify_failed(s->setup.opts->verify, &slot->verify, &slot->io);
	forget_io(s, slot, now);
	end_io(s, slot, now);
}

/* True if the slot is on its way again, to read once more what was wrong. */
static bool verify(struct session *s, struct slot *slot, uint64_t now)
{
	struct verify *v = s->setup.opts->verify;
	bool again = verify_end(v, &slot->verify, &slot->io);
	const char *note = verify_take_note(v);

	if (note)
		s->setup.events->on_note(s->setup.user, s, EVENT_NOTICE, note);
	if (again)
		send_slot(s, slot, now);
	return again;
}

void session_io_done(void *user, struct io *io)
{
	struct session *s = user;
	struct slot *slot = (void *)((char *)io - offsetof(struct slot, io));
	uint64_t now;

	if (s->state == SESSION_CLOSING) {
		give_up(s, slot);
		return;
	}
	if (io->result == -ECANCELED && s->state == SESSION_LOST) {
		slot->state = SLOT_PARKED;
		return;
	}
	now = now_ns(s);
	if (!io->result && s->setup.opts->verify && verify(s, slot, now))
		return;
	if (!io->result)
		end_well(s, slot, now);
	else if (!retry(s, slot, now))
		end_badly(s, slot, now);
	session_io_fill(s);
}

void session_io_resume(struct session *s)
{
	struct slot *slot;
	uint64_t now = now_ns(s);

	for (slot = s->slots; slot < s->slots + s->nr_slots; slot++) {
		if (slot->state != SLOT_PARKED)
			continue;
		s->setup.meter->retries[RETRY_CONNECTION_LOST]++;
		slot->attempts++;
		send_slot(s, slot, now);
	}
}

void session_io_give_up(struct session *s)
{
	struct slot *slot;

	for (slot = s->slots; slot < s->slots + s->nr_slots; slot++) {
		if (slot->state != SLOT_PAUSED && slot->state != SLOT_PARKED)
			continue;
		loop_timer_cancel(s->setup.loop, &slot->pause);
		give_up(s, slot);
	}
}

/* --- memory --- */

static size_t max_bytes(const struct job_opts *o, enum io_op op)
{
	size_t max = o->bs[op], i;

	if (!(o->ops & OP_BIT(op)))
		return 0;
	for (i = 0; i < o->nr_bssplit[op]; i++)
		if (o->bssplit[op][i].bytes > max)
			max = o->bssplit[op][i].bytes;
	return (max + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static int alloc_slots(struct session *s, struct err *e)
{
	size_t read_bytes = max_bytes(s->job, OP_READ);
	size_t write_bytes = max_bytes(s->job, OP_WRITE);
	size_t bytes = read_bytes + write_bytes, i;
	struct slot *slot;
	char *buf;

	s->nr_slots = s->job->iodepth;
	s->slots = calloc(s->nr_slots, sizeof(*s->slots));
	if (bytes)
		s->buffers = aligned_alloc(PAGE_BYTES, bytes * s->nr_slots);
	if (!s->slots || (bytes && !s->buffers))
		return err_set(e, -ENOMEM,
			       "no memory for %zu buffers of %zu bytes; take a "
			       "smaller iodepth, bs or number of clients",
			       s->nr_slots, bytes);
	for (i = 0; i < s->nr_slots; i++) {
		slot = &s->slots[i];
		buf = bytes ? (char *)s->buffers + i * bytes : NULL;
		slot->session = s;
		slot->pause.on_timer = on_pause_over;
		slot->read_buf = read_bytes ? buf : NULL;
		slot->write_buf = write_bytes ? buf + read_bytes : NULL;
		if (slot->write_buf)
			payload_fill(&s->payload, slot->write_buf, write_bytes);
	}
	return 0;
}

static int alloc_verify(struct session *s, struct err *e)
{
	size_t blocks =
		max_bytes(s->job, OP_READ) / s->setup.plan->lun.block_bytes;
	size_t i;

	if (!s->setup.opts->verify)
		return 0;
	s->lows = calloc(s->nr_slots * blocks + 1, sizeof(*s->lows));
	if (!s->lows)
		return err_set(e, -ENOMEM, "no memory to verify %zu reads",
			       s->nr_slots);
	for (i = 0; i < s->nr_slots; i++)
		s->slots[i].verify = (struct verify_io){
			.lows = s->lows + i * blocks,
			.max_blocks = blocks,
			.client = s->setup.number,
		};
	return 0;
}

static void on_fill(struct loop_timer *t)
{
	session_io_fill((void *)((char *)t - offsetof(struct session, fill)));
}

static void on_kick(struct loop_task *t)
{
	struct session *s =
		(void *)((char *)t - offsetof(struct session, kick));

	const struct transport *transport = s->setup.opts->transport;

	if (!session_is_connected(s))
		return;
	transport->kick(s->conn);
	/* The kick may have been the end of the connection. */
	if (session_is_connected(s) && transport->held)
		meter_record_send(s->setup.meter, s->nr_outstanding,
				  transport->held(s->conn));
}

int session_io_init(struct session *s, struct err *e)
{
	uint64_t seed = s->setup.client->seed;
	int r;

	s->fill.on_timer = on_fill;
	s->kick.on_task = on_kick;
	payload_init(&s->payload, s->job, rng_derive(seed, STREAM_PAYLOAD));
	r = alloc_slots(s, e);
	if (!r)
		r = alloc_verify(s, e);
	if (r)
		return r;
	return pattern_new(&s->pattern, s->setup.plan, s->setup.client, e);
}

void session_io_release(struct session *s)
{
	pattern_free(s->pattern);
	free(s->buffers);
	free(s->lows);
	free(s->slots);
}
