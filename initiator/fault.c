#include "initiator/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "initiator/fault_data.h"
#include "initiator/io_list.h"
#include "initiator/transport.h"

/*
 * fault:SPEC,...:URL is the transport of URL with faults, to prove what the
 * session does about them:
 *
 *	error busy full attention not_ready drop
 *			=1% of the I/Os at random, or =N: each N-th
 *	flip lost swap tear misdirect duplicate zero stale
 *			likewise, of the writes: see enum fault_kind
 *	after=N times=N	no fault in the first N I/Os of a connection; no more
 *			than N in all
 *	delay=TIME	each answer comes that much later
 *	open_delay=TIME	so does the opening
 *	lose=N		the connection is lost with its N-th I/O
 *	seed=N		for the random ones
 *
 * An I/O with a fault never reaches the transport inside, but for those of the
 * second line.
 */

static const struct fault_answer {
	int result;
	struct io_detail detail;
} answers[FAULT_KINDS] = {
	[FAULT_ERROR] = {-ENODATA, {.scsi_status = 0x02, 3, 0x11, 0x00}},
	[FAULT_BUSY] = {-EBUSY, {.scsi_status = 0x08}},
	[FAULT_FULL] = {-EBUSY, {.scsi_status = 0x28}},
	[FAULT_ATTENTION] = {-EAGAIN, {.scsi_status = 0x02, 6, 0x29, 0x00}},
	[FAULT_NOT_READY] = {-EAGAIN, {.scsi_status = 0x02, 2, 0x04, 0x01}},
};

struct answer { /* on its way to the owner */
	struct io *io;
	uint64_t due_ns;
};

struct fault_conn {
	struct conn conn;
	struct loop *loop;		  /* borrowed */
	const struct conn_events *events; /* borrowed */
	void *user;
	struct fault_spec spec;
	struct url url;			/* of the transport inside; owned */
	const struct transport *inside; /* borrowed */
	struct conn *inner;		/* owned until its on_closed */
	struct rng rng;

	bool is_open, is_lost, is_closing;
	uint64_t nr_submitted, nr_faults;
	uint64_t nr_fits[FAULT_KINDS]; /* I/Os that the fault could fall on */
	struct fault_data *data;       /* owned */
	/* All answers are equally late, so a ring keeps them in order. */
	struct answer *ring; /* owned */
	size_t ring_size, ring_first, ring_nr;
	struct io_list held; /* dropped, or of a lost connection */
	struct loop_timer deliver, open;
	struct loop_task lost;
	struct lun lun; /* of an opening that is delayed */
};

int fault_parse(const struct url *url, struct fault_spec *spec,
		struct url *inner, struct err *e)
{
	struct fault_spec unused;
	char text[sizeof(url->rest)];
	char *colon;
	int r;

	if (!spec)
		spec = &unused;
	*spec = (struct fault_spec){.seed = 1};
	const struct spec_key keys[] = {
		{"error", SPEC_CHANCE, &spec->chance[FAULT_ERROR]},
		{"busy", SPEC_CHANCE, &spec->chance[FAULT_BUSY]},
		{"full", SPEC_CHANCE, &spec->chance[FAULT_FULL]},
		{"attention", SPEC_CHANCE, &spec->chance[FAULT_ATTENTION]},
		{"not_ready", SPEC_CHANCE, &spec->chance[FAULT_NOT_READY]},
		{"drop", SPEC_CHANCE, &spec->chance[FAULT_DROP]},
		{"flip", SPEC_CHANCE, &spec->chance[FAULT_FLIP]},
		{"lost", SPEC_CHANCE, &spec->chance[FAULT_LOST]},
		{"swap", SPEC_CHANCE, &spec->chance[FAULT_SWAP]},
		{"tear", SPEC_CHANCE, &spec->chance[FAULT_TEAR]},
		{"misdirect", SPEC_CHANCE, &spec->chance[FAULT_MISDIRECT]},
		{"duplicate", SPEC_CHANCE, &spec->chance[FAULT_DUPLICATE]},
		{"zero", SPEC_CHANCE, &spec->chance[FAULT_ZERO]},
		{"stale", SPEC_CHANCE, &spec->chance[FAULT_STALE]},
		{"after", SPEC_UINT, &spec->after},
		{"times", SPEC_UINT, &spec->times},
		{"delay", SPEC_TIME, &spec->delay_ns},
		{"open_delay", SPEC_TIME, &spec->open_delay_ns},
		{"lose", SPEC_UINT, &spec->lose_after},
		{"seed", SPEC_UINT, &spec->seed},
		{.name = NULL},
	};

	strcpy(text, url->rest);
	colon = strchr(text, ':');
	if (!colon)
		return err_set(e, -EINVAL,
			       "\"%s\": a URL must follow the faults, as in "
			       "fault:busy=1%%:null:1G",
			       url->display);
	*colon = '\0';
	r = spec_parse(text, keys, e);
	if (r)
		return err_prefix(e, "%s", url->display);
	r = url_parse(inner, colon + 1, true, NULL, e);
	memset(text, 0, sizeof(text)); /* it may have held a secret */
	return r;
}

static void answer_later(struct fault_conn *c, struct io *io)
{
	size_t i = (c->ring_first + c->ring_nr++) % c->ring_size;

	c->ring[i].io = io;
	c->ring[i].due_ns = loop_now_ns(c->loop) + c->spec.delay_ns;
	if (!c->deliver.is_set)
		loop_timer_set(c->loop, &c->deliver, c->ring[i].due_ns);
}

static void on_deliver(struct loop_timer *t)
{
	struct fault_conn *c =
		(void *)((char *)t - offsetof(struct fault_conn, deliver));
	uint64_t now = loop_now_ns(c->loop);
	size_t n = c->ring_nr; /* not what on_io submits: next turn */
	struct answer *a;

	while (n-- && !c->is_closing) {
		a = &c->ring[c->ring_first];
		if (a->due_ns > now)
			break;
		c->ring_first = (c->ring_first + 1) % c->ring_size;
		c->ring_nr--;
		c->events->on_io(c->user, a->io);
	}
	if (c->ring_nr && !c->is_closing)
		loop_timer_set(c->loop, &c->deliver,
			       c->ring[c->ring_first].due_ns);
}

static void on_lost_task(struct loop_task *t)
{
	struct fault_conn *c =
		(void *)((char *)t - offsetof(struct fault_conn, lost));
	struct err e;

	c->is_open = false;
	err_set(&e, -ECONNRESET, "%s: connection lost (fault transport)",
		c->url.display);
	c->events->on_lost(c->user, &e);
}

static void on_open_timer(struct loop_timer *t)
{
	struct fault_conn *c =
		(void *)((char *)t - offsetof(struct fault_conn, open));

	c->is_open = true;
	c->events->on_open(c->user, &c->lun, NULL);
}

/* --- events from inside --- */

static void inner_open(void *user, const struct lun *lun, const struct err *e)
{
	struct fault_conn *c = user;

	if (c->is_closing)
		return;
	if (!lun) {
		c->events->on_open(c->user, NULL, e);
		return;
	}
	c->lun = *lun;
	if (c->spec.open_delay_ns)
		loop_timer_set(c->loop, &c->open,
			       loop_now_ns(c->loop) + c->spec.open_delay_ns);
	else
		on_open_timer(&c->open);
}

static void deliver(void *user, struct io *io)
{
	struct fault_conn *c = user;

	/* -ENOTCONN: of the second step of a fault of data; a loss follows. */
	if (c->is_closing || c->is_lost || io->result == -ENOTCONN)
		io_list_push(&c->held, io);
	else if (c->spec.delay_ns)
		answer_later(c, io);
	else
		c->events->on_io(c->user, io);
}

static void inner_io(void *user, struct io *io)
{
	struct fault_conn *c = user;

	if (!fault_data_done(c->data, io))
		deliver(c, io);
}

static void inner_lost(void *user, const struct err *e)
{
	struct fault_conn *c = user;

	if (c->is_lost || c->is_closing)
		return;
	c->is_lost = true;
	loop_timer_cancel(c->loop, &c->open);
	c->is_open = false;
	c->events->on_lost(c->user, e);
}

static void inner_closed(void *user)
{
	struct fault_conn *c = user;

	for (; c->ring_nr; c->ring_nr--) {
		io_list_push(&c->held, c->ring[c->ring_first].io);
		c->ring_first = (c->ring_first + 1) % c->ring_size;
	}
	io_list_cancel(&c->held, c->events, c->user);
	c->events->on_closed(c->user);
	url_wipe(&c->url);
	fault_data_free(c->data);
	free(c->ring);
	free(c);
}

static const struct conn_events inner_events = {
	.on_open = inner_open,
	.on_io = inner_io,
	.on_lost = inner_lost,
	.on_closed = inner_closed,
};

/* --- the transport --- */

static int fault_open(struct conn **out, const struct conn_setup *s,
		      struct err *e)
{
	struct fault_conn *c = calloc(1, sizeof(*c));
	struct conn_setup inner = *s;
	struct fault_data_setup data;
	int r;

	if (!c)
		return err_set(e, -ENOMEM, "no memory for a connection");
	r = fault_parse(s->url, &c->spec, &c->url, e);
	if (r)
		goto out;
	r = -EINVAL;
	c->inside = transport_find(c->url.scheme, e);
	if (!c->inside)
		goto out;
	c->ring_size = s->depth ? s->depth : 1;
	c->ring = calloc(c->ring_size, sizeof(*c->ring));
	data = (struct fault_data_setup){
		.inside = c->inside,
		.lun = &c->lun,
		.inner = &c->inner,
		.on_done = deliver,
		.user = c,
		.depth = s->depth,
		.seed = rng_derive(rng_derive(c->spec.seed, s->number), 1),
	};
	c->data = fault_data_new(&data);
	if (!c->ring || !c->data) {
		r = err_set(e, -ENOMEM, "no memory for a connection");
		goto out;
	}
	c->conn.transport = &transport_fault;
	c->loop = s->loop;
	c->events = s->events;
	c->user = s->user;
	rng_init(&c->rng, rng_derive(c->spec.seed, s->number));
	c->deliver.on_timer = on_deliver;
	c->open.on_timer = on_open_timer;
	c->lost.on_task = on_lost_task;
	inner.url = &c->url;
	inner.events = &inner_events;
	inner.user = c;
	r = c->inside->open(&c->inner, &inner, e);
	if (r)
		goto out;
	*out = &c->conn;
	return 0;
out:
	url_wipe(&c->url);
	fault_data_free(c->data);
	free(c->ring);
	free(c);
	return r;
}

/* Faults of data are counted by the I/Os that they could fall on. */
static bool falls_on(struct fault_conn *c, enum fault_kind k,
		     const struct io *io)
{
	const struct spec_chance *p = &c->spec.chance[k];
	uint64_t nr = c->nr_submitted;

	if (!p->every && !p->percent)
		return false;
	if (fault_is_of_data(k)) {
		if (!fault_data_fits(c->data, k, io))
			return false;
		nr = ++c->nr_fits[k];
	}
	return (p->every && nr % p->every == 0) ||
	       (p->percent && rng_double(&c->rng) * 100 < p->percent);
}

/* The first fault that falls on this I/O, or FAULT_KINDS. */
static enum fault_kind draw_fault(struct fault_conn *c, const struct io *io)
{
	int k;

	if (c->nr_submitted <= c->spec.after ||
	    (c->spec.times && c->nr_faults >= c->spec.times))
		return FAULT_KINDS;
	for (k = 0; k < FAULT_KINDS; k++) {
		if (!falls_on(c, k, io))
			continue;
		c->nr_faults++;
		return k;
	}
	return FAULT_KINDS;
}

static int fault_submit(struct conn *conn, struct io *io)
{
	struct fault_conn *c = (struct fault_conn *)conn;
	enum fault_kind kind;

	if (!c->is_open || c->is_closing)
		return -ENOTCONN;
	c->nr_submitted++;
	if (c->spec.lose_after && c->nr_submitted == c->spec.lose_after) {
		c->is_lost = true;
		loop_defer(c->loop, &c->lost);
	}
	if (c->is_lost) {
		io_list_push(&c->held, io);
		return 0;
	}
	kind = draw_fault(c, io);
	if (kind == FAULT_KINDS)
		return c->inside->submit(c->inner, io);
	if (fault_is_of_data(kind) && kind != FAULT_LOST)
		return fault_data_submit(c->data, kind, io);
	if (kind == FAULT_DROP) {
		io_list_push(&c->held, io);
		return 0;
	}
	io->result = answers[kind].result;
	io->detail = answers[kind].detail;
	answer_later(c, io);
	return 0;
}

static void fault_kick(struct conn *conn)
{
	struct fault_conn *c = (struct fault_conn *)conn;

	if (c->is_open && !c->is_closing)
		c->inside->kick(c->inner);
}

static void fault_close(struct conn *conn)
{
	struct fault_conn *c = (struct fault_conn *)conn;

	c->is_closing = true;
	loop_timer_cancel(c->loop, &c->open);
	loop_timer_cancel(c->loop, &c->deliver);
	loop_defer_cancel(c->loop, &c->lost);
	c->inside->close(c->inner);
}

static const char *fault_stage(const struct conn *conn)
{
	const struct fault_conn *c = (const struct fault_conn *)conn;

	if (c->open.is_set)
		return "waiting as long as open_delay says";
	return c->inside->stage(c->inner);
}

static void fault_describe(const struct conn *conn,
			   void (*emit)(void *user, const char *key,
					const char *value),
			   void *user)
{
	const struct fault_conn *c = (const struct fault_conn *)conn;

	c->inside->describe(c->inner, emit, user);
}

static unsigned int fault_held(const struct conn *conn)
{
	const struct fault_conn *c = (const struct fault_conn *)conn;

	return c->is_open && c->inside->held ? c->inside->held(c->inner) : 0;
}

static bool fault_counts(const struct conn *conn, struct wire_counts *counts)
{
	const struct fault_conn *c = (const struct fault_conn *)conn;

	return c->inner && c->inside->counts &&
	       c->inside->counts(c->inner, counts);
}

static const struct negotiation *fault_negotiation(const struct conn *conn)
{
	const struct fault_conn *c = (const struct fault_conn *)conn;

	return c->inner && c->inside->negotiation
		       ? c->inside->negotiation(c->inner)
		       : NULL;
}

const struct transport transport_fault = {
	.scheme = "fault",
	.summary = "fault:KEY=VALUE,...:URL  another transport with faults: "
		   "error busy full attention not_ready drop flip lost swap "
		   "tear misdirect duplicate zero stale (1% or N), delay "
		   "open_delay (time), lose after times (N)",
	/* Of the transport inside: see transport_caps(). */
	.caps = CAN_WRITE | CAN_TRIM | CAN_FLUSH,
	.open = fault_open,
	.submit = fault_submit,
	.kick = fault_kick,
	.held = fault_held,
	.counts = fault_counts,
	.negotiation = fault_negotiation,
	.close = fault_close,
	.stage = fault_stage,
	.describe = fault_describe,
};
