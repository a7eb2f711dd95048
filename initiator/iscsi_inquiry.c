#include "initiator/iscsi_inquiry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "initiator/pages.h"
#include "initiator/sense.h"

/* A fresh session has one or two unit attentions waiting, and a busy target
 * wants a moment; anything that lasts longer is an answer. */
enum { TRIES_MAX = 10 };
#define AGAIN_NS (100 * NS_PER_MSEC)

enum step {
	STEP_READY,
	STEP_INQUIRY,
	STEP_CAPACITY16,
	STEP_CAPACITY10,
	STEP_PAGES,
	STEP_SERIAL,
	STEP_IDENTITY,
	STEP_LIMITS,
	STEP_PROVISIONING,
	STEP_CACHING,
	STEP_ALL_MODES,
	STEPS
};

/* CDBs: SPC-4 and SBC-3, the clause beside each. */
static const struct step_def {
	const char *stage;
	uint8_t cdb[16];
	uint8_t cdb_bytes;
	uint8_t page; /* VPD page that must be listed; 0: none */
	uint32_t reply_bytes;
} steps[STEPS] = {
	[STEP_READY] = {"whether it is ready", {0x00}, 6, 0, 0}, /* 6.33 */
	[STEP_INQUIRY] = {"what it is", {0x12, 0, 0, 0, 96}, 6, 0, 96},
	[STEP_CAPACITY16] = {"its size",
			     {0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32},
			     16,
			     0,
			     32},			    /* 5.16 */
	[STEP_CAPACITY10] = {"its size", {0x25}, 10, 0, 8}, /* 5.15 */
	[STEP_PAGES] = {"its pages", {0x12, 1, 0x00, 0, 255}, 6, 0, 255},
	[STEP_SERIAL] =
		{"its serial number", {0x12, 1, 0x80, 0, 255}, 6, 0x80, 255},
	[STEP_IDENTITY] = {"its name", {0x12, 1, 0x83, 0, 255}, 6, 0x83, 255},
	[STEP_LIMITS] = {"its limits", {0x12, 1, 0xb0, 0, 64}, 6, 0xb0, 64},
	[STEP_PROVISIONING] =
		{"its provisioning", {0x12, 1, 0xb2, 0, 64}, 6, 0xb2, 64},
	/* 6.13, without block descriptors: page 08h, then any */
	[STEP_CACHING] = {"its cache", {0x1a, 8, 0x08, 0, 255}, 6, 0, 255},
	[STEP_ALL_MODES] = {"its modes", {0x1a, 8, 0x3f, 0, 255}, 6, 0, 255},
};

static void send_step(struct inquiry *q);

static void done(struct inquiry *q, const struct err *e)
{
	loop_timer_cancel(q->loop, &q->again);
	q->on_done(q, e);
}

static void fail(struct inquiry *q, int code, const char *what)
{
	struct err e;

	err_set(&e, code, "LUN %u: %s", q->number, what);
	done(q, &e);
}

static void finish(struct inquiry *q)
{
	struct lun *l = &q->lun;

	/* SBC-2 targets have no page B2h, but say how much UNMAP may take */
	if (l->is_thin && l->max_unmap_blocks &&
	    !pages_has(q->pages, q->pages_bytes, 0xb2))
		l->can_unmap = true;
	done(q, NULL);
}

/* The next step whose page the LUN has. */
static void next_step(struct inquiry *q, enum step step)
{
	while (step < STEPS && steps[step].page &&
	       !pages_has(q->pages, q->pages_bytes, steps[step].page))
		step++;
	if (step == STEPS) {
		finish(q);
		return;
	}
	q->step = step;
	q->tries = 0;
	send_step(q);
}

/* --- one function a kind of reply --- */

static void on_refusal(struct inquiry *q, int result, const struct io_detail *d)
{
	bool illegal = d->scsi_status == 0x02 && d->sense_key == 0x05;
	char text[200], what[256];

	switch (q->step) {
	case STEP_READY:
		/* reserved by another: its shape can still be read */
		if (d->scsi_status == 0x18) {
			next_step(q, STEP_INQUIRY);
			return;
		}
		break;
	case STEP_CAPACITY16:
		if (illegal && result != -ENXIO) {
			next_step(q, STEP_CAPACITY10);
			return;
		}
		break;
	case STEP_INQUIRY:
	case STEP_CAPACITY10:
		break;
	case STEP_ALL_MODES:
		finish(q);
		return;
	default: /* optional */
		if (illegal && result != -ENXIO) {
			next_step(q, q->step + 1);
			return;
		}
	}
	sense_describe(d, text, sizeof(text));
	snprintf(what, sizeof(what), "%s%s",
		 result == -ENXIO    ? "no such LUN: "
		 : result == -EAGAIN ? "not ready: "
				     : "",
		 text);
	fail(q, result, what);
}

static void on_inquiry(struct inquiry *q, const uint8_t *d, size_t n)
{
	unsigned int qualifier;
	char what[128];

	if (pages_inquiry(d, n, &qualifier, &q->device_type, &q->lun)) {
		fail(q, -EPROTO, "INQUIRY data too short");
	} else if (qualifier == 3) {
		fail(q, -ENXIO,
		     "no such LUN: INQUIRY says that nothing can be "
		     "there (peripheral qualifier 3)");
	} else if (qualifier) {
		fail(q, -ENXIO,
		     "no such LUN: INQUIRY says that nothing is "
		     "connected there (peripheral qualifier 1)");
	} else if (q->device_type) {
		snprintf(what, sizeof(what),
			 "not a disk (device type 0x%02x, %s)", q->device_type,
			 sense_device_type(q->device_type));
		fail(q, -ENXIO, what);
	} else {
		next_step(q, STEP_CAPACITY16);
	}
}

static void on_capacity(struct inquiry *q, int ret)
{
	switch (ret) {
	case 0:
		if (q->only_size)
			done(q, NULL);
		else
			next_step(q, STEP_PAGES);
		break;
	case -ENODATA:
		fail(q, -ENXIO, "LUN has no blocks (its size is 0)");
		break;
	case -EOVERFLOW:
		fail(q, -EOVERFLOW,
		     "over 2^32 blocks, but the target does not know READ "
		     "CAPACITY(16)");
		break;
	default:
		fail(q, -EPROTO, "READ CAPACITY data makes no sense");
	}
}

static void on_mode(struct inquiry *q, const uint8_t *d, size_t n)
{
	pages_mode(d, n, &q->lun);
	if (q->step == STEP_CACHING && !q->lun.write_cache_known)
		next_step(q, STEP_ALL_MODES);
	else
		finish(q);
}

static void on_data(struct inquiry *q, const uint8_t *d, size_t n)
{
	struct lun *l = &q->lun;

	switch (q->step) {
	case STEP_READY:
		next_step(q, q->only_size ? STEP_CAPACITY16 : STEP_INQUIRY);
		return;
	case STEP_INQUIRY:
		on_inquiry(q, d, n);
		return;
	case STEP_CAPACITY16:
		on_capacity(q, pages_capacity16(d, n, l));
		return;
	case STEP_CAPACITY10:
		on_capacity(q, pages_capacity10(d, n, l));
		return;
	case STEP_PAGES:
		q->pages_bytes = n < sizeof(q->pages) ? n : sizeof(q->pages);
		memcpy(q->pages, d, q->pages_bytes);
		break;
	case STEP_SERIAL:
		pages_serial(d, n, l);
		break;
	case STEP_IDENTITY:
		pages_identity(d, n, l);
		break;
	case STEP_LIMITS:
		pages_limits(d, n, l);
		break;
	case STEP_PROVISIONING:
		pages_provisioning(d, n, l);
		break;
	case STEP_CACHING:
	case STEP_ALL_MODES:
		on_mode(q, d, n);
		return;
	}
	next_step(q, q->step + 1);
}

static void on_reply(struct command *c, int result, const struct io_detail *d,
		     const uint8_t *data, size_t size)
{
	struct inquiry *q =
		(void *)((char *)c - offsetof(struct inquiry, command));
	bool is_attention = d->scsi_status == 0x02 && d->sense_key == 0x06;

	if (!result)
		on_data(q, data, size);
	else if (is_attention && q->tries++ < TRIES_MAX)
		send_step(q);
	else if (result == -EBUSY && q->tries++ < TRIES_MAX)
		loop_timer_set(q->loop, &q->again,
			       loop_now_ns(q->loop) + AGAIN_NS);
	else
		on_refusal(q, result, d);
}

static void on_again(struct loop_timer *t)
{
	send_step((void *)((char *)t - offsetof(struct inquiry, again)));
}

static void send_step(struct inquiry *q)
{
	const struct step_def *s = &steps[q->step];
	int ret = command_send(&q->command, q->link, q->number, s->cdb,
			       s->cdb_bytes, s->reply_bytes);

	/* -ENOTCONN: on_down is on its way to the owner */
	if (ret && ret != -ENOTCONN)
		fail(q, ret, strerror(-ret));
}

void inquiry_start(struct inquiry *q)
{
	q->command.on_reply = on_reply;
	q->again.on_timer = on_again;
	q->device_type = 0x1f;
	q->lun.keeps_data = true;
	next_step(q, STEP_READY);
}

void inquiry_release(struct inquiry *q)
{
	loop_timer_cancel(q->loop, &q->again);
	command_release(&q->command);
}

const char *inquiry_stage(const struct inquiry *q)
{
	return steps[q->step].stage;
}
