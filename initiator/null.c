#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "initiator/io_list.h"
#include "initiator/transport.h"

/*
 * null:SIZE answers everything in the loop's next turn, and touches no data.
 * What a run on it costs is what the rest of lunbench costs.
 */

enum { NULL_BLOCK_BYTES = 512 };

struct null_conn {
	struct conn conn;
	struct loop *loop;		  /* borrowed */
	const struct conn_events *events; /* borrowed */
	void *user;
	struct lun lun;
	bool is_open, is_closing;
	struct io_list outstanding;
	/* A timer for "now", not a task: tasks that queue tasks would keep one
	 * turn going for ever. */
	struct loop_timer answer;
	struct loop_task end;
};

static void on_answer(struct loop_timer *t)
{
	struct null_conn *c =
		(void *)((char *)t - offsetof(struct null_conn, answer));
	size_t n = c->outstanding.nr; /* not what on_io submits: later */
	struct io *io;

	if (!c->is_open) {
		c->is_open = true;
		c->events->on_open(c->user, &c->lun, NULL);
	}
	while (n-- && !c->is_closing && (io = io_list_pop(&c->outstanding))) {
		io->result = 0;
		c->events->on_io(c->user, io);
	}
}

static void on_end(struct loop_task *t)
{
	struct null_conn *c =
		(void *)((char *)t - offsetof(struct null_conn, end));

	io_list_cancel(&c->outstanding, c->events, c->user);
	c->events->on_closed(c->user);
	free(c);
}

static int null_open(struct conn **out, const struct conn_setup *s,
		     struct err *e)
{
	struct size_value size;
	struct null_conn *c;
	int r;

	r = units_parse_size(s->url->rest, 1024, &size, e);
	if (r)
		return err_prefix(e, "%s", s->url->display);
	if (size.is_percent || size.bytes < NULL_BLOCK_BYTES)
		return err_set(e, -EINVAL,
			       "\"%s\": a size of at least %d bytes is needed, "
			       "as in null:1G",
			       s->url->display, NULL_BLOCK_BYTES);
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_set(e, -ENOMEM, "no memory for a connection");
	c->conn.transport = &transport_null;
	c->loop = s->loop;
	c->events = s->events;
	c->user = s->user;
	c->lun.block_bytes = NULL_BLOCK_BYTES;
	c->lun.blocks = size.bytes / NULL_BLOCK_BYTES;
	c->lun.can_unmap = true;
	c->answer.on_timer = on_answer;
	c->end.on_task = on_end;
	loop_timer_set(c->loop, &c->answer, 0);
	*out = &c->conn;
	return 0;
}

static int null_submit(struct conn *conn, struct io *io)
{
	struct null_conn *c = (struct null_conn *)conn;

	if (!c->is_open || c->is_closing)
		return -ENOTCONN;
	io_list_push(&c->outstanding, io);
	return 0;
}

static void null_kick(struct conn *conn)
{
	struct null_conn *c = (struct null_conn *)conn;

	if (!c->answer.is_set && c->outstanding.nr)
		loop_timer_set(c->loop, &c->answer, 0);
}

static void null_close(struct conn *conn)
{
	struct null_conn *c = (struct null_conn *)conn;

	c->is_closing = true;
	loop_timer_cancel(c->loop, &c->answer);
	loop_defer(c->loop, &c->end);
}

static const char *null_stage(const struct conn *conn)
{
	(void)conn;
	return "opening the null transport";
}

static void null_describe(const struct conn *conn,
			  void (*emit)(void *user, const char *key,
				       const char *value),
			  void *user)
{
	(void)conn;
	(void)emit;
	(void)user;
}

const struct transport transport_null = {
	.scheme = "null",
	.summary = "null:SIZE  answers at once: what lunbench itself costs",
	.caps = CAN_WRITE | CAN_TRIM | CAN_FLUSH,
	.open = null_open,
	.submit = null_submit,
	.kick = null_kick,
	.close = null_close,
	.stage = null_stage,
	.describe = null_describe,
};
