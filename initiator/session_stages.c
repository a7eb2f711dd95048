#include "initiator/session_stages.h"

/* Of an answer: all but what was queued here, which is the rest. */
static void add_stages(const struct io *io, uint64_t now,
		       uint64_t ns[WIRE_STAGES])
{
	struct wire_times t = io->times;

	wire_times_enter(&t, t.now, now);
	for (size_t i = STAGE_QUEUED_HERE + 1; i < WIRE_STAGES; i++)
		ns[i] += t.spent_ns[i];
}

void session_add_stages(struct slot *slot, uint64_t now)
{
	if (slot->io.times.first_ns)
		add_stages(&slot->io, now, slot->earlier_ns);
}

void session_record_stages(struct session *s, struct slot *slot, uint64_t now)
{
	uint64_t *ns = slot->earlier_ns, rest = now - slot->submit_ns;

	if (!slot->io.times.first_ns || !s->setup.meter->stage[0])
		return;
	add_stages(&slot->io, now, ns);
	for (size_t i = STAGE_QUEUED_HERE + 1; i < WIRE_STAGES; i++)
		rest -= ns[i];
	ns[STAGE_QUEUED_HERE] = rest;
	meter_record_stages(s->setup.meter, ns);
}

void session_begin_counts(struct session *s)
{
	const struct transport *t = s->setup.opts->transport;

	s->has_counted = true;
	s->has_passed = t->counts && t->counts(s->conn, &s->passed);
}

void session_end_counts(struct session *s)
{
	struct wire_counts now;

	if (s->has_passed && s->conn &&
	    s->setup.opts->transport->counts(s->conn, &now))
		wire_counts_add(&s->setup.meter->wire, &now, &s->passed);
	s->has_passed = false;
}
