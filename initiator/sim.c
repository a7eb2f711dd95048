#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"
#include "initiator/io_list.h"
#include "initiator/spec.h"
#include "initiator/transport.h"

/*
 * A target that queueing theory knows: K servers, one queue in order of
 * arrival, a fixed or exponential service time, on a virtual clock. It proves
 * the meter: the results must be what theory says (tests/unit/test_run.c,
 * `lunbench selftest`).
 *
 * The servers belong to the target, not to the session: all sessions of one
 * loop that name the same URL share them. Loops do not share (no locks), so a
 * virtual run has one worker.
 */

enum { SIM_MAX_SERVERS = 65536 };

struct server {
	struct loop_timer done;
	struct sim_target *target;
	struct io *io;	     /* borrowed; NULL: idle, or it was cancelled */
	struct server *next; /* in the list of idle ones */
};

struct sim_target {
	struct sim_target *next; /* in this thread's list */
	struct loop *loop;	 /* borrowed */
	const struct url *url;	 /* borrowed */
	size_t nr_conns;
	uint64_t service_ns, size_bytes;
	uint32_t block_bytes;
	bool is_exponential;
	struct rng rng;
	struct io_list queue;
	struct server *servers; /* owned */
	size_t nr_servers;
	struct server *idle;
};

struct sim_conn {
	struct conn conn;
	struct sim_target *target; /* counted in nr_conns */
	const struct conn_events *events;
	void *user;
	struct lun lun;
	bool is_open, is_closing;
	struct loop_timer open;
	struct loop_task end;
};

static _Thread_local struct sim_target *targets;

/* --- the target --- */

static uint64_t draw_service_ns(struct sim_target *t)
{
	if (!t->is_exponential)
		return t->service_ns;
	return -log(1 - rng_double(&t->rng)) * t->service_ns + 0.5;
}

static void serve(struct server *s, struct io *io)
{
	s->io = io;
	loop_timer_set(s->target->loop, &s->done,
		       loop_now_ns(s->target->loop) +
			       draw_service_ns(s->target));
}

static void on_done(struct loop_timer *timer)
{
	struct server *s =
		(void *)((char *)timer - offsetof(struct server, done));
	struct io *io = s->io, *next = io_list_pop(&s->target->queue);
	struct sim_conn *c;

	s->io = NULL;
	if (next) {
		serve(s, next);
	} else {
		s->next = s->target->idle;
		s->target->idle = s;
	}
	if (!io)
		return;
	c = io->transport_data;
	io->result = c->is_closing ? -ECANCELED : 0;
	c->events->on_io(c->user, io);
}

static int parse_target(struct sim_target *t, const struct url *url,
			unsigned int repeat, struct err *e)
{
	char dist[8] = "fixed";
	uint64_t servers = 1, seed = 1, block = 512;
	struct size_value size = {.bytes = 1 << 30};
	const struct spec_key keys[] = {
		{"servers", SPEC_UINT, &servers},
		{"service", SPEC_TIME, &t->service_ns},
		{"size", SPEC_SIZE, &size},
		{"block", SPEC_UINT, &block},
		{"dist", SPEC_WORD, dist},
		{"seed", SPEC_UINT, &seed},
		{.name = NULL},
	};

	if (spec_parse(url->rest, keys, e))
		return err_prefix(e, "%s", url->display);
	t->size_bytes = size.bytes;
	t->nr_servers = servers;
	t->is_exponential = strcmp(dist, "exp") == 0;
	if (!t->is_exponential && strcmp(dist, "fixed") != 0)
		return err_set(e, -EINVAL,
			       "\"%s\": dist=%s is neither fixed nor exp",
			       url->display, dist);
	if (block != 512 && block != 4096)
		return err_set(e, -EINVAL,
			       "\"%s\": block=%" PRIu64
			       " is neither 512 nor 4096",
			       url->display, block);
	t->block_bytes = block;
	if (!servers || servers > SIM_MAX_SERVERS || !t->service_ns ||
	    size.is_percent || size.bytes < block)
		return err_set(e, -EINVAL,
			       "\"%s\": needs 1 to %d servers, a service time "
			       "and a size of a block or more, as in "
			       "sim:servers=4,service=1ms,size=1G",
			       url->display, SIM_MAX_SERVERS);
	/* Repeats would not be any if chance were the same in all. */
	rng_init(&t->rng, repeat > 1 ? rng_derive(seed, repeat) : seed);
	return 0;
}

static int target_new(struct sim_target **out, const struct conn_setup *s,
		      struct err *e)
{
	struct sim_target *t = calloc(1, sizeof(*t));
	size_t i;
	int r;

	if (!t)
		return err_set(e, -ENOMEM, "no memory for a target");
	r = parse_target(t, s->url, s->repeat, e);
	if (r)
		goto out;
	t->servers = calloc(t->nr_servers, sizeof(*t->servers));
	if (!t->servers) {
		r = err_set(e, -ENOMEM, "no memory for %zu servers",
			    t->nr_servers);
		goto out;
	}
	t->loop = s->loop;
	t->url = s->url;
	for (i = t->nr_servers; i-- > 0;) {
		t->servers[i].target = t;
		t->servers[i].done.on_timer = on_done;
		t->servers[i].next = t->idle;
		t->idle = &t->servers[i];
	}
	t->next = targets;
	targets = t;
	*out = t;
	return 0;
out:
	free(t);
	return r;
}

static int target_get(struct sim_target **out, const struct conn_setup *s,
		      struct err *e)
{
	struct sim_target *t;

	for (t = targets; t; t = t->next)
		if (t->loop == s->loop &&
		    strcmp(t->url->rest, s->url->rest) == 0)
			break;
	if (!t) {
		int r = target_new(&t, s, e);

		if (r)
			return r;
	}
	t->nr_conns++;
	*out = t;
	return 0;
}

static void target_put(struct sim_target *t)
{
	struct sim_target **p = &targets;
	size_t i;

	if (--t->nr_conns)
		return;
	while (*p != t)
		p = &(*p)->next;
	*p = t->next;
	for (i = 0; i < t->nr_servers; i++)
		loop_timer_cancel(t->loop, &t->servers[i].done);
	free(t->servers);
	free(t);
}

/* --- the connection --- */

static void on_open(struct loop_timer *t)
{
	struct sim_conn *c =
		(void *)((char *)t - offsetof(struct sim_conn, open));

	c->is_open = true;
	c->events->on_open(c->user, &c->lun, NULL);
}

static void give_back(struct sim_conn *c, struct io *io)
{
	io->result = -ECANCELED;
	c->events->on_io(c->user, io);
}

/* What a server has begun it finishes, for nobody: work is not recalled. */
static void on_end(struct loop_task *task)
{
	struct sim_conn *c =
		(void *)((char *)task - offsetof(struct sim_conn, end));
	struct sim_target *t = c->target;
	struct io *io, *next;
	size_t i;

	for (i = 0; i < t->nr_servers; i++) {
		io = t->servers[i].io;
		if (io && io->transport_data == c) {
			t->servers[i].io = NULL;
			give_back(c, io);
		}
	}
	for (io = t->queue.head; io; io = next) {
		next = io->transport_next;
		if (io->transport_data == c) {
			io_list_remove(&t->queue, io);
			give_back(c, io);
		}
	}
	c->events->on_closed(c->user);
	target_put(t);
	free(c);
}

static int sim_open(struct conn **out, const struct conn_setup *s,
		    struct err *e)
{
	struct sim_conn *c;
	int r;

	if (!loop_is_virtual(s->loop))
		return err_set(e, -EINVAL,
			       "\"%s\": the simulated target needs a virtual "
			       "clock",
			       s->url->display);
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_set(e, -ENOMEM, "no memory for a connection");
	r = target_get(&c->target, s, e);
	if (r) {
		free(c);
		return r;
	}
	c->conn.transport = &transport_sim;
	c->events = s->events;
	c->user = s->user;
	c->lun.block_bytes = c->target->block_bytes;
	c->lun.blocks = c->target->size_bytes / c->target->block_bytes;
	c->lun.can_unmap = true;
	c->open.on_timer = on_open;
	c->end.on_task = on_end;
	loop_timer_set(s->loop, &c->open, 0);
	*out = &c->conn;
	return 0;
}

static int sim_submit(struct conn *conn, struct io *io)
{
	struct sim_conn *c = (struct sim_conn *)conn;
	struct sim_target *t = c->target;
	struct server *s = t->idle;

	if (!c->is_open || c->is_closing)
		return -ENOTCONN;
	io->transport_data = c;
	if (s) {
		t->idle = s->next;
		serve(s, io);
	} else {
		io_list_push(&t->queue, io);
	}
	return 0;
}

static void sim_kick(struct conn *conn)
{
	(void)conn; /* a submit is an arrival already */
}

static void sim_close(struct conn *conn)
{
	struct sim_conn *c = (struct sim_conn *)conn;

	c->is_closing = true;
	loop_timer_cancel(c->target->loop, &c->open);
	loop_defer(c->target->loop, &c->end);
}

static const char *sim_stage(const struct conn *conn)
{
	(void)conn;
	return "opening the simulated target";
}

static void sim_describe(const struct conn *conn,
			 void (*emit)(void *user, const char *key,
				      const char *value),
			 void *user)
{
	const struct sim_conn *c = (const struct sim_conn *)conn;
	char text[32];

	snprintf(text, sizeof(text), "%zu", c->target->nr_servers);
	emit(user, "servers", text);
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)c->target->service_ns);
	emit(user, "service_ns", text);
	emit(user, "dist", c->target->is_exponential ? "exp" : "fixed");
}

const struct transport transport_sim = {
	.scheme = "sim",
	.summary = "sim:servers=K,service=TIME,size=SIZE[,block=512|4096][,"
		   "dist=fixed|exp]"
		   "[,seed=N]  a simulated target, in virtual time",
	.caps = CAN_WRITE | CAN_TRIM | CAN_FLUSH | IS_VIRTUAL,
	.open = sim_open,
	.submit = sim_submit,
	.kick = sim_kick,
	.close = sim_close,
	.stage = sim_stage,
	.describe = sim_describe,
};
