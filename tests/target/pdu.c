#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/target/bytes.h"
#include "tests/target/session_state.h"

/* --- writes --- */

static struct task *take_task(struct session *s)
{
	struct task *t;

	if (s->free_task == NONE && s->nr_tasks == TASKS)
		return NULL;
	if (s->free_task == NONE) {
		t = &s->tasks[s->nr_tasks];
		t->next_free = s->nr_tasks++;
	} else {
		t = &s->tasks[s->free_task];
		uint32_t next = t->next_free;

		t->next_free = s->free_task;
		s->free_task = next;
	}
	t->is_taken = true;
	return t;
}

static void drop_task(struct session *s, struct task *t)
{
	t->is_taken = false;
	free(t->scratch);
	t->scratch = NULL;
	t->next_free = s->free_task;
	s->free_task = t - s->tasks;
}

static void ask_for_data(struct session *s, struct task *t)
{
	uint32_t most = s->keys.max_burst, n = t->want - t->got, asks = 0;
	const struct script *script = &s->t->script;
	uint8_t *h;

	if (script->nr_r2t)
		asks = script->r2t_bytes[s->nr_asked++ % script->nr_r2t];
	if (asks && asks < most)
		most = asks;
	if (n > most)
		n = most;
	h = reply_header(s, R2T, 0x80, t->itt, false);
	put32(h + 20, t - s->tasks);
	put32(h + 36, t->r2t_sn++);
	put32(h + 40, t->got);
	put32(h + 44, n);
	t->r2t_left = n;
}

/* The last PDU of a burst is in. */
static void burst_done(struct session *s, struct task *t)
{
	if (t->got < t->want) {
		ask_for_data(s, t);
		return;
	}
	if (t->scratch)
		corrupt_write(&s->t->corrupt, t->act, s->t->store,
			      &s->t->script,
			      t->answer.offset_bytes % s->t->script.store_bytes,
			      t->scratch, t->want);
	if (!t->is_stalled)
		reply_answer(s, t->itt, &t->answer, t->want, t->delay_ns);
	drop_task(s, t);
}

static int begin_write(struct session *s, const struct answer *a, uint32_t want,
		       const struct rule *r, uint64_t delay_ns, bool is_stalled)
{
	struct task *t = take_task(s);

	if (!t)
		return -ENOBUFS;
	t->itt = get32(s->header + 16);
	t->want = want;
	t->got = t->r2t_left = t->r2t_sn = 0;
	t->delay_ns = delay_ns;
	t->is_stalled = is_stalled;
	t->answer = *a;
	t->to = NULL;
	if (a->kind == ANSWER_WRITE && a->bytes >= want)
		t->to = s->t->store +
			a->offset_bytes % s->t->script.store_bytes;
	if (t->to && r && act_is_of_data(r->act)) {
		t->act = r->act;
		t->to = t->scratch = malloc(want);
		if (!t->to)
			return -ENOMEM;
	}
	s->current = t;
	return 0;
}

static struct task *task_of_data(struct session *s)
{
	uint32_t itt = get32(s->header + 16), ttt = get32(s->header + 20);

	if (ttt != NONE)
		return ttt < s->nr_tasks && s->tasks[ttt].is_taken &&
				       s->tasks[ttt].itt == itt
			       ? &s->tasks[ttt]
			       : NULL;
	for (uint32_t i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i].is_taken && s->tasks[i].itt == itt)
			return &s->tasks[i];
	return NULL;
}

/* Where the data segment of the PDU goes. Of a command that was refused there
 * is no task any more: nowhere. */
static int place_data(struct session *s, uint32_t at, uint32_t n)
{
	struct task *t = s->current;

	s->data = NULL;
	if (!t)
		return 0;
	if (at != t->got || n > t->want - t->got)
		return -EPROTO;
	if (t->to)
		s->data = t->to + at;
	t->got += n;
	return 0;
}

/* --- PDUs --- */

static void send_text(struct session *s, uint8_t opcode, uint8_t flags,
		      const void *text, size_t n)
{
	uint8_t *h =
		reply_header(s, opcode, flags, get32(s->header + 16), true);

	memcpy(h + 8, s->header + 8, 6);
	if (opcode == LOGIN_RESPONSE) {
		put16(h + 14, 1); /* TSIH */
		put32(h + 20, 0);
	}
	reply_data(s, h, text, n);
}

static int on_login(struct session *s, uint32_t n)
{
	char reply[4096];
	uint8_t stage = s->header[1];
	size_t len;

	s->text[n] = 0;
	s->cmd_sn = get32(s->header + 24);
	len = login_answer(&s->keys, &s->t->script, (char *)s->text, n, reply,
			   sizeof(reply));
	send_text(s, LOGIN_RESPONSE, stage & 0x8f, reply, len);
	s->is_full = (stage & 0x83) == 0x83;
	return 0;
}

static int on_text(struct session *s)
{
	char reply[256];
	int n = snprintf(reply, sizeof(reply),
			 "TargetName=iqn.2026-11.lb:instant%c"
			 "TargetAddress=127.0.0.1:%u,1",
			 0, s->t->port);

	send_text(s, TEXT_RESPONSE, 0x80, reply, n + 1);
	return 0;
}

static int on_nop(struct session *s, uint32_t n)
{
	uint32_t itt = get32(s->header + 16);

	if (itt != NONE)
		reply_data(s, reply_header(s, NOP_IN, 0x80, itt, true), s->text,
			   n);
	return 0;
}

static void stray_data(struct session *s, uint32_t itt)
{
	uint8_t zeros[512] = {0};

	reply_data(s, reply_header(s, DATA_IN, 0, itt, false), zeros,
		   sizeof(zeros));
}

static void stray_r2t(struct session *s, uint32_t itt, uint32_t bytes)
{
	put32(reply_header(s, R2T, 0x80, itt, false) + 44, bytes);
}

/* How a rule changes the answer. False: there is none. */
static bool obey(struct session *s, const struct rule *r, struct answer *a,
		 uint32_t itt)
{
	switch (r->act) {
	case ACT_BUSY:
	case ACT_FULL:
		a->kind = ANSWER;
		a->status = r->act == ACT_BUSY ? 0x08 : 0x28;
		break;
	case ACT_ATTENTION:
		scsi_check(a, 6, 0x29, 0);
		break;
	case ACT_MEDIUM:
		scsi_check(a, 3, 0x11, 0);
		break;
	case ACT_STALL:
	case ACT_DROP:
		return false;
	case ACT_CUT:
		s->cut = true;
		break;
	case ACT_PING:
		s->wants_ping = true;
		break;
	case ACT_LOGOUT:
		s->wants_event = r->event;
		break;
	case ACT_SHUT:
		reply_shut(s, r->delay_ns);
		break;
	case ACT_DATA_IN:
		stray_data(s, itt);
		break;
	case ACT_R2T:
		stray_r2t(s, itt, 1 << 20);
		break;
	case ACT_SHORT:
		s->is_short = true;
		break;
	case ACT_EARLY:
	case ACT_EARLY_ZERO:
	case ACT_DENY:
		stray_r2t(s, itt, get32(s->header + 20));
		a->kind = ANSWER;
		a->bytes = 0;
		s->tells_zero = r->act == ACT_EARLY_ZERO;
		if (r->act == ACT_DENY)
			scsi_check(a, 3, 0x11, 0);
		break;
	default:
		break;
	}
	return true;
}

static int on_command(struct session *s)
{
	const uint8_t *h = s->header;
	uint32_t itt = get32(h + 16), want = get32(h + 20);
	bool is_write = h[1] & 0x20, is_answered = true, is_early = false;
	const struct rule *r;
	uint64_t delay_ns = 0;
	struct answer a;

	s->outstanding++;
	scsi_command(&a, &s->t->script, h + 8, h + 32);
	if (a.kind == ANSWER_READ && a.bytes / s->keys.max_recv > PDUS_A_READ)
		scsi_check(&a, 5, 0x24, 0);
	r = script_meet(&s->t->script, a.what);
	if (r) {
		is_answered = obey(s, r, &a, itt);
		delay_ns = r->act == ACT_DELAY ? r->delay_ns : 0;
		is_early = r->act == ACT_EARLY || r->act == ACT_EARLY_ZERO;
		if (r->act == ACT_DROP)
			return -ESHUTDOWN;
	}
	if (is_write && want && !a.status && !is_early)
		return begin_write(s, &a, want, r, delay_ns, !is_answered);
	if (is_answered)
		reply_answer(s, itt, &a, want, delay_ns);
	return 0;
}

static int on_logout(struct session *s)
{
	const struct rule *r = script_meet(&s->t->script, WHAT_LOGOUT);
	uint32_t itt = get32(s->header + 16);
	uint8_t *h;

	if (r && r->act == ACT_DROP)
		return -ESHUTDOWN;
	if (r && r->act == ACT_STALL)
		return 0;
	if (r && r->act == ACT_DATA_IN)
		stray_data(s, itt);
	h = reply_header(s, LOGOUT_RESPONSE, 0x80, itt, true);
	put32(h + 20, 0); /* reserved: RFC 7143 section 11.15 */
	s->is_over = true;
	return 0;
}

/* The header is in: where does its data go? */
int pdu_begin(struct session *s)
{
	const uint8_t *h = s->header;
	uint8_t opcode = h[0] & 0x3f;
	uint32_t n = get24(h + 5);
	int ret = 0;

	s->current = NULL;
	s->data = NULL;
	if (h[4])
		return -EPROTO;
	if (!s->is_full && opcode != LOGIN)
		return -EPROTO;
	if (!(h[0] & 0x40) && opcode != DATA_OUT)
		s->cmd_sn = get32(h + 24) + 1;
	if (opcode == COMMAND) {
		ret = on_command(s);
		if (!ret)
			ret = place_data(s, 0, n);
	} else if (opcode == DATA_OUT) {
		s->current = task_of_data(s);
		ret = place_data(s, get32(h + 40), n);
	} else if (n >= TEXT_BYTES) {
		ret = -EPROTO;
	} else {
		s->data = s->text;
	}
	s->data_left = n;
	s->skip = -n & 3;
	s->in_limit = n >= LARGE ? LITTLE : IN_BYTES;
	s->in_data = true;
	return ret;
}

int pdu_finish(struct session *s)
{
	const uint8_t *h = s->header;
	uint32_t n = get24(h + 5);

	s->in_data = false;
	switch (h[0] & 0x3f) {
	case COMMAND:
	case DATA_OUT:
		if (s->current && (h[1] & 0x80))
			burst_done(s, s->current);
		return 0;
	case LOGIN:
		return on_login(s, n);
	case NOP_OUT:
		return on_nop(s, n);
	case TEXT:
		return on_text(s);
	case TASK_MANAGEMENT:
		reply_header(s, TASK_RESPONSE, 0x80, get32(h + 16), true);
		return 0;
	case LOGOUT:
		return on_logout(s);
	}
	return -EPROTO;
}
