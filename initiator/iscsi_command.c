#include "initiator/iscsi_command.h"

#include <errno.h>
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <string.h>

#include "initiator/sense.h"

static void on_command_done(struct iscsi_context *ctx, int status, void *data,
			    void *user)
{
	struct command *c = user;
	struct scsi_task *task = c->task;
	struct io_detail d = {.scsi_status = status};

	(void)ctx;
	(void)data;
	c->task = NULL;
	if (status > 0xff) {
		link_fail(c->link);
	} else if (status == SCSI_STATUS_CHECK_CONDITION) {
		/* two bytes of length, then the sense data */
		if (task->datain.size > 2)
			sense_parse(task->datain.data + 2,
				    task->datain.size - 2, &d);
		c->on_reply(c, sense_result(&d), &d, NULL, 0);
	} else {
		c->on_reply(c, sense_result(&d), &d, task->datain.data,
			    task->datain.size);
	}
	scsi_free_scsi_task(task);
}

int command_send(struct command *c, struct link *l, unsigned int lun,
		 const uint8_t *cdb, size_t cdb_bytes, uint32_t reply_bytes)
{
	unsigned char copy[SCSI_CDB_MAX_SIZE];

	if (!link_is_up(l))
		return -ENOTCONN;
	memcpy(copy, cdb, cdb_bytes);
	c->link = l;
	c->task = scsi_create_task(
		cdb_bytes, copy, reply_bytes ? SCSI_XFER_READ : SCSI_XFER_NONE,
		reply_bytes);
	if (!c->task)
		return -ENOMEM;
	if (iscsi_scsi_command_async(link_context(l), link_lun_field(lun),
				     c->task, on_command_done, NULL, c)) {
		command_release(c);
		return -ENOMEM;
	}
	link_kick(l);
	return 0;
}

void command_release(struct command *c)
{
	if (c->task)
		scsi_free_scsi_task(c->task);
	c->task = NULL;
}

static const struct iscsi_discovery_address *nth_target(
	const struct iscsi_discovery_address *t, size_t n)
{
	while (t && n--)
		t = t->next;
	return t;
}

static const struct iscsi_target_portal *nth_portal(
	const struct iscsi_target_portal *p, size_t n)
{
	while (p && n--)
		p = p->next;
	return p;
}

/* libiscsi's lists are the answer backwards. */
static void give_portals(struct targets_query *q,
			 const struct iscsi_discovery_address *t)
{
	size_t n = 0;

	while (nth_portal(t->portals, n))
		n++;
	if (!n)
		q->on_target(q, t->target_name, NULL);
	while (n--)
		q->on_target(q, t->target_name,
			     nth_portal(t->portals, n)->portal);
}

static void on_targets(struct iscsi_context *ctx, int status, void *data,
		       void *user)
{
	const struct iscsi_discovery_address *all = data;
	struct targets_query *q = user;
	size_t n = 0;

	(void)ctx;
	if (status != SCSI_STATUS_GOOD) {
		link_fail(q->link);
		return;
	}
	for (const struct iscsi_discovery_address *t = all; t; t = t->next)
		n++;
	while (n--)
		give_portals(q, nth_target(all, n));
	q->on_target(q, NULL, NULL);
}

int targets_send(struct targets_query *q, struct link *l)
{
	q->link = l;
	if (!link_is_up(l) ||
	    iscsi_discovery_async(link_context(l), on_targets, q))
		return -ENOTCONN;
	link_kick(l);
	return 0;
}
