#include "initiator/transport.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "initiator/fault.h"

const struct transport *const transports[] = {
	&transport_iscsi, &transport_block, &transport_null,
	&transport_sim,	  &transport_fault, NULL,
};

const struct transport *transport_find(const char *scheme, struct err *e)
{
	char known[256] = "";
	size_t len = 0, i;

	for (i = 0; transports[i]; i++) {
		if (strcmp(transports[i]->scheme, scheme) == 0)
			return transports[i];
		len += snprintf(known + len, sizeof(known) - len, "%s%s",
				i ? ", " : "", transports[i]->scheme);
	}
	err_set(e, -EINVAL, "unknown scheme \"%s\"; known are %s", scheme,
		known);
	return NULL;
}

unsigned int transport_caps(const struct url *url)
{
	const struct transport *t = transport_find(url->scheme, NULL);
	struct url inner;
	unsigned int caps;

	if (!t)
		return 0;
	if (t != &transport_fault)
		return t->caps;
	if (fault_parse(url, NULL, &inner, NULL))
		return 0;
	caps = transport_caps(&inner);
	url_wipe(&inner);
	return caps;
}

/* --- the probe --- */

enum { CLOSE_LIMIT_S = 5 };

struct probe {
	struct lun *lun;
	struct err *e;
	bool has_answer, is_closed;
	int result;
};

static void on_open(void *user, const struct lun *lun, const struct err *e)
{
	struct probe *p = user;

	p->has_answer = true;
	if (lun)
		*p->lun = *lun;
	else
		p->result = err_set(p->e, e->code, "%s", e->text);
}

static void on_io(void *user, struct io *io)
{
	(void)user; /* a probe submits nothing */
	(void)io;
}

static void on_lost(void *user, const struct err *e)
{
	on_open(user, NULL, e);
}

static void on_closed(void *user)
{
	struct probe *p = user;

	p->is_closed = true;
}

static const struct conn_events probe_events = {
	.on_open = on_open,
	.on_io = on_io,
	.on_lost = on_lost,
	.on_closed = on_closed,
};

/* Turns until *@flag or @deadline_ns. */
static void turn_until(struct loop *l, const bool *flag, uint64_t deadline_ns)
{
	uint64_t now;

	while (!*flag && (now = loop_now_ns(l)) < deadline_ns)
		if (loop_turn(l, deadline_ns - now))
			return;
}

static void tell(const struct transport *t, const struct conn *c,
		 const struct probe_events *to)
{
	const struct negotiation *n = t->negotiation ? t->negotiation(c) : NULL;

	if (to->emit)
		t->describe(c, to->emit, to->user);
	if (n && to->on_key)
		negotiation_tell(n, to->on_key, to->user);
}

int transport_probe(const struct url *url, const struct initiator_opts *opts,
		    struct lun *lun, const struct probe_events *events,
		    struct err *e)
{
	const struct transport *t = transport_find(url->scheme, e);
	struct probe p = {.lun = lun, .e = e};
	struct conn_setup s = {.url = url,
			       .opts = opts,
			       .depth = 1,
			       .events = &probe_events,
			       .user = &p};
	struct loop *l;
	struct conn *c;
	int r;

	if (!t)
		return -EINVAL;
	r = loop_new(&l, transport_caps(url) & IS_VIRTUAL, e);
	if (r)
		return r;
	s.loop = l;
	r = t->open(&c, &s, e);
	if (r)
		goto out;
	turn_until(l, &p.has_answer, loop_now_ns(l) + opts->connect_timeout_ns);
	if (!p.has_answer)
		p.result = err_set(e, -ETIMEDOUT, "%s: no answer in %.3g s",
				   t->stage(c), opts->connect_timeout_ns / 1e9);
	else if (!p.result && events)
		tell(t, c, events);
	r = p.result;
	t->close(c);
	turn_until(l, &p.is_closed,
		   loop_now_ns(l) + CLOSE_LIMIT_S * NS_PER_SEC);
	/* A connection that does not close in time (a hung disk) may still
	 * write to itself and to its loop: leak both rather than crash. */
	if (!p.is_closed)
		return r ? r
			 : err_set(e, -ETIMEDOUT, "\"%s\" does not close",
				   url->display);
out:
	loop_free(l);
	return r;
}
