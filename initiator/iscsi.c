#include <errno.h>
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/io_list.h"
#include "initiator/iscsi_inquiry.h"
#include "initiator/iscsi_link.h"
#include "initiator/sense.h"
#include "initiator/wire.h"

/*
 * The iscsi transport: one session (a link), one LUN. libiscsi's tasks read
 * and write the caller's buffer itself, one vector each.
 *
 * Who has an io: its slot, from submit to on_io. A slot's task is libiscsi's
 * until its callback; but callbacks may not come at all (1.19 drops them when
 * a session ends), so a slot that is still taken when the context is gone is
 * completed from our own list.
 */
struct slot {
	struct iscsi_conn *c;
	struct io *io; /* borrowed; NULL: free */
	struct scsi_task *task;
	struct scsi_iovec iov;
	struct slot *next_free;
};

enum conn_state { CONN_OPENING, CONN_OPEN, CONN_LOST, CONN_CLOSING };

struct iscsi_conn {
	struct conn conn; /* first */
	struct conn_setup setup;
	enum conn_state state;
	struct link *link;	/* owned */
	struct inquiry inquiry; /* while opening */
	struct lun lun;
	int lun_field;
	struct slot *slots;  /* owned, setup.depth of them */
	struct slot *free;   /* those without an io */
	struct io_list late; /* see must_wait() */
	unsigned int outstanding;
	struct loop_task close_task;
	char stage[512];
};

/* --- I/O --- */

static void free_slot(struct slot *s)
{
	struct iscsi_conn *c = s->c;

	s->io = NULL;
	s->next_free = c->free;
	c->free = s;
	c->outstanding--;
}

static void give_back(struct slot *s)
{
	struct iscsi_conn *c = s->c;
	struct io *io = s->io;

	free_slot(s);
	c->setup.events->on_io(c->setup.user, io);
}

/* A target that sends less than was read, and does not say so. */
static void find_missing(struct slot *s)
{
	struct io *io = s->io;
	int64_t came = wire_data_in(link_wire(s->c->link), s->task->itt);

	if (io->op == OP_READ && came >= 0 && came < io->length_bytes)
		io->detail.residual_bytes =
			io->length_bytes - came > INT32_MAX
				? INT32_MAX
				: (int32_t)(io->length_bytes - came);
}

static void fill_detail(struct slot *s, int status)
{
	const struct scsi_task *task = s->task;
	struct io *io = s->io;
	struct io_detail *d = &io->detail;

	memset(d, 0, sizeof(*d));
	d->scsi_status = status;
	if (task->residual_status != SCSI_RESIDUAL_NO_RESIDUAL) {
		d->residual_bytes =
			task->residual > INT32_MAX ? INT32_MAX : task->residual;
		if (task->residual_status == SCSI_RESIDUAL_OVERFLOW)
			d->residual_bytes = -d->residual_bytes;
	}
	/* two bytes of length, then the sense data */
	if (status == SCSI_STATUS_CHECK_CONDITION && task->datain.size > 2)
		sense_parse(task->datain.data + 2, task->datain.size - 2, d);
	io->result = sense_result(d);
	if (!io->result && !d->residual_bytes)
		find_missing(s);
	/* GOOD, but another amount than asked for: part of the data was
	 * silently not transferred. Of an UNMAP the data is only its list, and
	 * tgt reports all of that for an UNMAP that it has carried out. */
	if (!io->result && d->residual_bytes &&
	    (io->op == OP_READ || io->op == OP_WRITE))
		io->result = -EBADMSG;
}

/*
 * A target may refuse a write, or an UNMAP, while its data is still on the way
 * out. The Data-Out PDUs left in libiscsi's queue point into the task and the
 * caller's buffer, so both must stay until they have gone. Where nobody counts
 * (--wire=plain) a target that says GOOD is believed to have all data.
 */
static bool must_wait(const struct slot *s)
{
	const struct io *io = s->io;
	struct link *l = s->c->link;
	int64_t left = wire_data_left(link_wire(l), s->task->itt);

	if (io->op == OP_READ)
		return false;
	if (left < 0 ? io->result != 0 : left > 0)
		return link_has_output(l);
	return io->op == OP_WRITE &&
	       wire_holds(link_wire(l), io->buf, io->length_bytes);
}

static void drop_task(struct slot *s)
{
	if (s->task)
		scsi_free_scsi_task(s->task);
	s->task = NULL;
}

static void on_sent(void *user)
{
	struct iscsi_conn *c = user;
	struct io *io;

	while (c->state == CONN_OPEN && (io = io_list_pop(&c->late))) {
		drop_task(io->transport_data);
		give_back(io->transport_data);
	}
}

static void on_task_done(struct iscsi_context *ctx, int status, void *data,
			 void *user)
{
	struct slot *s = user;
	struct iscsi_conn *c = s->c;

	(void)ctx;
	(void)data;
	if (status > 0xff) {
		/* not the target's status but libiscsi's: it gave up */
		link_fail(c->link);
		drop_task(s);
		return;
	}
	if (c->state != CONN_OPEN) {
		drop_task(s); /* close_task gives the io back, cancelled */
		return;
	}
	fill_detail(s, status);
	wire_times(link_wire(c->link), s->task->itt, &s->io->times);
	if (must_wait(s)) {
		io_list_push(&c->late, s->io);
		link_tell_sent(c->link);
		return;
	}
	drop_task(s);
	give_back(s);
}

/* READ and WRITE (10) as far as they reach: the shorter CDB is the one that
 * every target has. */
static struct scsi_task *send_data(struct slot *s, uint64_t lba,
				   uint64_t blocks)
{
	struct iscsi_context *ctx = link_context(s->c->link);
	int lun = s->c->lun_field, block = s->c->lun.block_bytes;
	uint32_t bytes = s->io->length_bytes;
	bool is_short = blocks <= UINT16_MAX && lba + blocks - 1 <= UINT32_MAX;

	s->iov.iov_base = s->io->buf;
	s->iov.iov_len = bytes;
	if (s->io->op == OP_READ && is_short)
		return iscsi_read10_iov_task(ctx, lun, lba, bytes, block, 0, 0,
					     0, 0, 0, on_task_done, s, &s->iov,
					     1);
	if (s->io->op == OP_READ)
		return iscsi_read16_iov_task(ctx, lun, lba, bytes, block, 0, 0,
					     0, 0, 0, on_task_done, s, &s->iov,
					     1);
	if (is_short)
		return iscsi_write10_iov_task(ctx, lun, lba, NULL, bytes, block,
					      0, 0, s->io->fua, 0, 0,
					      on_task_done, s, &s->iov, 1);
	return iscsi_write16_iov_task(ctx, lun, lba, NULL, bytes, block, 0, 0,
				      s->io->fua, 0, 0, on_task_done, s,
				      &s->iov, 1);
}

/* One descriptor: a length in bytes of 32 bits always fits it. */
static struct scsi_task *send_unmap(struct slot *s, uint64_t lba,
				    uint64_t blocks)
{
	struct unmap_list list = {.lba = lba, .num = blocks};

	return iscsi_unmap_task(link_context(s->c->link), s->c->lun_field, 0, 0,
				&list, 1, on_task_done, s);
}

/* Of a range, or of all with lba 0 and no blocks. */
static struct scsi_task *send_flush(struct slot *s, uint64_t lba,
				    uint64_t blocks)
{
	struct iscsi_context *ctx = link_context(s->c->link);

	if (lba <= INT32_MAX && blocks <= UINT16_MAX)
		return iscsi_synchronizecache10_task(ctx, s->c->lun_field, lba,
						     blocks, 0, 0, on_task_done,
						     s);
	return iscsi_synchronizecache16_task(ctx, s->c->lun_field, lba, blocks,
					     0, 0, on_task_done, s);
}

/* -EINVAL for what can never be one command on this LUN. */
static int check_range(const struct iscsi_conn *c, const struct io *io,
		       uint64_t *lba, uint64_t *blocks)
{
	uint32_t block = c->lun.block_bytes;

	*lba = io->offset_bytes / block;
	*blocks = io->length_bytes / block;
	if (*lba * block != io->offset_bytes ||
	    *blocks * block != io->length_bytes)
		return -EINVAL;
	if (!*blocks && io->op != OP_FLUSH)
		return -EINVAL;
	if (io->op == OP_TRIM && c->lun.max_unmap_blocks &&
	    *blocks > c->lun.max_unmap_blocks)
		return -EINVAL;
	return 0;
}

static int iscsi_submit(struct conn *conn, struct io *io)
{
	struct iscsi_conn *c = (struct iscsi_conn *)conn;
	struct slot *s = c->free;
	uint64_t lba, blocks;
	int ret;

	if (c->state != CONN_OPEN || !link_is_up(c->link))
		return -ENOTCONN;
	if (!s)
		return -ENOBUFS; /* over the depth that open was told */
	ret = check_range(c, io, &lba, &blocks);
	if (ret)
		return ret;
	s->io = io;
	switch (io->op) {
	case OP_READ:
	case OP_WRITE:
		s->task = send_data(s, lba, blocks);
		break;
	case OP_TRIM:
		s->task = send_unmap(s, lba, blocks);
		break;
	default:
		s->task = send_flush(s, lba, blocks);
	}
	if (!s->task) {
		s->io = NULL;
		return -ENOMEM;
	}
	c->free = s->next_free;
	c->outstanding++;
	io->transport_data = s;
	return 0;
}

static void iscsi_kick(struct conn *conn)
{
	struct iscsi_conn *c = (struct iscsi_conn *)conn;

	if (c->state == CONN_OPEN)
		link_kick(c->link);
}

static unsigned int iscsi_held(const struct conn *conn)
{
	const struct iscsi_conn *c = (const struct iscsi_conn *)conn;

	return c->state == CONN_OPEN ? link_held(c->link) : 0;
}

static bool iscsi_counts(const struct conn *conn, struct wire_counts *counts)
{
	return wire_counts(link_wire(((const struct iscsi_conn *)conn)->link),
			   counts);
}

static const struct negotiation *iscsi_negotiation(const struct conn *conn)
{
	return wire_negotiation(
		link_wire(((const struct iscsi_conn *)conn)->link));
}

/* --- opening --- */

static void tell_failure(struct iscsi_conn *c, const struct err *e)
{
	bool was_open = c->state == CONN_OPEN;

	c->state = CONN_LOST;
	if (was_open)
		c->setup.events->on_lost(c->setup.user, e);
	else
		c->setup.events->on_open(c->setup.user, NULL, e);
}

/* A session that is opened again must find the LUN that the plan was made
 * for. */
static int check_known(const struct iscsi_conn *c, struct err *e)
{
	const struct lun *known = c->setup.known, *now = &c->inquiry.lun;

	if (known->blocks == now->blocks &&
	    known->block_bytes == now->block_bytes)
		return 0;
	return err_set(e, -ESTALE,
		       "LUN %u has changed: it had %llu blocks of %u bytes, "
		       "now %llu of %u",
		       c->setup.url->lun, (unsigned long long)known->blocks,
		       known->block_bytes, (unsigned long long)now->blocks,
		       now->block_bytes);
}

static void on_learned(struct inquiry *q, const struct err *e)
{
	struct iscsi_conn *c =
		(void *)((char *)q - offsetof(struct iscsi_conn, inquiry));
	struct err why;

	if (c->state != CONN_OPENING)
		return;
	if (e) {
		why = *e;
		err_prefix(&why, "\"%s\"", c->setup.url->display);
		tell_failure(c, &why);
		return;
	}
	if (c->setup.known && check_known(c, &why)) {
		tell_failure(c, &why);
		return;
	}
	c->lun = c->setup.known ? *c->setup.known : q->lun;
	c->state = CONN_OPEN;
	c->setup.events->on_open(c->setup.user, &c->lun, NULL);
}

static void on_up(void *user)
{
	struct iscsi_conn *c = user;

	if (c->state != CONN_OPENING)
		return;
	c->inquiry.link = c->link;
	c->inquiry.loop = c->setup.loop;
	c->inquiry.number = c->setup.url->lun;
	c->inquiry.only_size = c->setup.known;
	c->inquiry.on_done = on_learned;
	inquiry_start(&c->inquiry);
}

static void finish_close(struct iscsi_conn *c);

static void on_down(void *user, const struct err *e)
{
	struct iscsi_conn *c = user;

	if (c->state == CONN_CLOSING)
		finish_close(c);
	else if (c->state != CONN_LOST)
		tell_failure(c, e);
}

static const struct link_events link_events = {
	.on_up = on_up,
	.on_down = on_down,
	.on_sent = on_sent,
};

static int make_slots(struct iscsi_conn *c)
{
	unsigned int n = c->setup.depth ? c->setup.depth : 1;

	c->slots = calloc(n, sizeof(*c->slots));
	if (!c->slots)
		return -ENOMEM;
	c->setup.depth = n;
	while (n--) {
		c->slots[n].c = c;
		c->slots[n].next_free = c->free;
		c->free = &c->slots[n];
	}
	return 0;
}

static void on_close_task(struct loop_task *t);

static int iscsi_open(struct conn **out, const struct conn_setup *s,
		      struct err *e)
{
	struct iscsi_conn *c = calloc(1, sizeof(*c));
	struct link_setup link = {
		.loop = s->loop,
		.url = s->url,
		.opts = s->opts,
		.target = s->url->target,
		.number = s->number,
		.events = &link_events,
		.user = c,
	};
	int ret;

	if (!c)
		return err_set(e, -ENOMEM, "no memory for an iSCSI session");
	c->conn.transport = &transport_iscsi;
	c->setup = *s;
	c->lun_field = link_lun_field(s->url->lun);
	c->close_task.on_task = on_close_task;
	ret = make_slots(c);
	if (ret)
		err_set(e, ret, "no memory for %u outstanding I/Os", s->depth);
	else
		ret = link_open(&c->link, &link, e);
	if (ret) {
		free(c->slots);
		free(c);
		return ret;
	}
	*out = &c->conn;
	return 0;
}

/* --- closing --- */

/* On the loop, outside of libiscsi. First the context goes, so that nothing
 * can touch a buffer any more; then the buffers' owners get them back. */
static void finish_close(struct iscsi_conn *c)
{
	struct conn_setup setup = c->setup;

	link_free(c->link);
	inquiry_release(&c->inquiry);
	for (unsigned int i = 0; i < setup.depth; i++) {
		struct slot *s = &c->slots[i];

		drop_task(s);
		if (!s->io)
			continue;
		s->io->result = -ECANCELED;
		memset(&s->io->detail, 0, sizeof(s->io->detail));
		give_back(s);
	}
	free(c->slots);
	free(c);
	setup.events->on_closed(setup.user);
}

/* A logout is polite where nothing is under way. Else the target would first
 * have to finish what nobody wants any more. */
static void on_close_task(struct loop_task *t)
{
	struct iscsi_conn *c =
		(void *)((char *)t - offsetof(struct iscsi_conn, close_task));

	if (link_is_up(c->link) && !c->outstanding)
		link_logout(c->link);
	else
		finish_close(c);
}

static void iscsi_close(struct conn *conn)
{
	struct iscsi_conn *c = (struct iscsi_conn *)conn;

	if (c->state == CONN_CLOSING)
		return;
	c->state = CONN_CLOSING;
	loop_defer(c->setup.loop, &c->close_task);
}

/* --- what people see --- */

static const char *iscsi_stage(const struct conn *conn)
{
	struct iscsi_conn *c = (struct iscsi_conn *)conn;

	if (!link_is_up(c->link) || c->state != CONN_OPENING)
		return link_stage(c->link);
	snprintf(c->stage, sizeof(c->stage), "asking %s for LUN %u: %s",
		 link_portal(c->link), c->setup.url->lun,
		 inquiry_stage(&c->inquiry));
	return c->stage;
}

static void iscsi_describe(const struct conn *conn,
			   void (*emit)(void *user, const char *key,
					const char *value),
			   void *user)
{
	const struct iscsi_conn *c = (const struct iscsi_conn *)conn;
	char text[32];

	link_describe(c->link, emit, user);
	emit(user, "TargetName", c->setup.url->target);
	snprintf(text, sizeof(text), "%u", c->setup.url->lun);
	emit(user, "LUN", text);
}

const struct transport transport_iscsi = {
	.scheme = "iscsi",
	.summary = "an iSCSI LUN, through libiscsi: "
		   "iscsi://host[:port]/target/lun",
	.caps = CAN_WRITE | CAN_TRIM | CAN_FLUSH | IS_NETWORK,
	.open = iscsi_open,
	.submit = iscsi_submit,
	.kick = iscsi_kick,
	.held = iscsi_held,
	.counts = iscsi_counts,
	.negotiation = iscsi_negotiation,
	.close = iscsi_close,
	.stage = iscsi_stage,
	.describe = iscsi_describe,
};
