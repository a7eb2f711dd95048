#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/target/bytes.h"
#include "tests/target/session_state.h"

static void put_sns(struct session *s, uint8_t *h, bool with_status)
{
	put32(h + 24, s->stat_sn);
	put32(h + 28, s->cmd_sn);
	put32(h + 32, s->shut_until_ns ? s->cmd_sn - 1
				       : s->cmd_sn + s->t->script.window - 1 -
						 s->outstanding);
	if (with_status)
		s->stat_sn++;
}

uint8_t *reply_header(struct session *s, uint8_t opcode, uint8_t flags,
		      uint32_t itt, bool with_status)
{
	uint8_t *h = out_bytes(&s->out, HEADER);

	h[0] = opcode;
	h[1] = flags;
	put32(h + 16, itt);
	put32(h + 20, NONE);
	put_sns(s, h, with_status);
	if (s->cut) {
		s->out.iov[s->out.n - 1].iov_len -= HEADER - 20;
		s->is_over = true;
	}
	return h;
}

void reply_data(struct session *s, uint8_t *h, const void *data, size_t n)
{
	put32(h + 4, n); /* no AHS: byte 4 stays 0 */
	if (n && !s->is_over)
		memcpy(out_bytes(&s->out, (n + 3) & ~3u), data, n);
}

static uint8_t residual(uint8_t *h, uint32_t want, uint32_t has)
{
	if (want == has)
		return 0;
	put32(h + 44, want > has ? want - has : has - want);
	return want > has ? 0x02 : 0x04;
}

/* @want: what the initiator expects; @has: what the CDB means. */
static void respond(struct session *s, uint32_t itt, const struct answer *a,
		    uint32_t want, uint32_t has)
{
	uint8_t sense[20] = {0, 18, 0x70, 0, a->key, 0, 0, 0, 0, 10};
	uint8_t *h = reply_header(s, RESPONSE, 0x80, itt, true);

	h[3] = a->status;
	if (a->status == 0x02) {
		sense[14] = a->asc;
		sense[15] = a->ascq;
		reply_data(s, h, sense, sizeof(sense));
	} else if (!a->status) {
		h[1] |= s->tells_zero ? 0x02 : residual(h, want, has);
		s->tells_zero = false;
	}
}

/* It is sent from where it is, and nobody tells when. */
static void keep(struct session *s, uint8_t *data)
{
	struct kept *k = malloc(sizeof(*k));

	if (!k)
		abort();
	k->data = data;
	k->next = s->kept;
	s->kept = k;
}

static void answer_read(struct session *s, uint32_t itt, const struct answer *a,
			uint32_t want)
{
	uint32_t n = a->bytes < want ? a->bytes : want, at = 0, sn = 0;
	uint64_t offset = a->offset_bytes % s->t->script.store_bytes;
	uint8_t *from = corrupt_read(&s->t->corrupt, s->t->store, offset, n);

	if (from)
		keep(s, from);
	else
		from = s->t->store + offset;

	if (s->is_short)
		n /= 2;
	do {
		uint32_t len = n - at;
		uint32_t burst = s->keys.max_burst - at % s->keys.max_burst;
		uint8_t *h;
		bool is_last;

		if (len > s->keys.max_recv)
			len = s->keys.max_recv;
		if (len > burst)
			len = burst;
		is_last = at + len == n;
		h = reply_header(s, DATA_IN, 0, itt, is_last);
		put32(h + 4, len);
		put32(h + 36, sn++);
		put32(h + 40, at);
		if (is_last)
			h[1] = 0x81 |
			       (s->is_short ? 0 : residual(h, want, a->bytes));
		else if (len == burst)
			h[1] = 0x80;
		if (s->is_over)
			return;
		out_ref(&s->out, from + at, len);
		at += len;
	} while (at < n);
	s->is_short = false;
}

static void ping(struct session *s)
{
	put32(reply_header(s, NOP_IN, 0x80, NONE, false) + 20, 1);
}

/* RFC 7143 11.9.1: a logout within 3 s is asked for, or the connection (2), all
 * of the session (3), goes. */
static void tell_event(struct session *s, unsigned int event)
{
	uint8_t *h = reply_header(s, ASYNC, 0x80, NONE, true);

	h[36] = event;
	put16(h + 42, event == 1 ? 3 : 0);
	s->is_over = s->is_over || event == 2 || event == 3;
}

static void answer_data(struct session *s, uint32_t itt, const struct answer *a,
			uint32_t want)
{
	uint32_t n = a->bytes < want ? a->bytes : want;
	uint8_t *h = reply_header(s, DATA_IN, 0x81, itt, true);

	h[1] |= residual(h, want, n);
	reply_data(s, h, a->data, n);
}

static void answer_now(struct session *s, uint32_t itt, const struct answer *a,
		       uint32_t want)
{
	s->outstanding--;
	if (a->kind == ANSWER_READ)
		answer_read(s, itt, a, want);
	else if (a->kind == ANSWER_WRITE)
		respond(s, itt, a, want, a->bytes);
	else if (a->status || !a->bytes)
		respond(s, itt, a, 0, 0);
	else
		answer_data(s, itt, a, want);
	if (s->wants_ping)
		ping(s);
	s->wants_ping = false;
	if (s->wants_event)
		tell_event(s, s->wants_event);
	s->wants_event = 0;
}

/* --- later --- */

static struct later *add_later(struct session *s, uint64_t delay_ns)
{
	struct later *l = calloc(1, sizeof(*l)), **p = &s->t->later;

	if (!l)
		abort();
	l->at_ns = clock_now_ns() + delay_ns;
	l->s = s;
	while (*p && (*p)->at_ns <= l->at_ns)
		p = &(*p)->next;
	l->next = *p;
	*p = l;
	return l;
}

static void answer_later(struct session *s, uint32_t itt,
			 const struct answer *a, uint32_t want,
			 uint64_t delay_ns)
{
	struct later *l = add_later(s, delay_ns);

	l->itt = itt;
	l->want = want;
	l->answer = *a;
}

void reply_shut(struct session *s, uint64_t for_ns)
{
	if (s->shut_until_ns)
		return;
	s->shut_until_ns = clock_now_ns() + for_ns;
	add_later(s, for_ns)->opens = true;
}

void reply_open(struct session *s)
{
	s->shut_until_ns = 0;
	reply_header(s, NOP_IN, 0x80, NONE, false);
}

void reply_forget(struct session *s)
{
	struct later **p = &s->t->later, *l;

	while ((l = *p)) {
		if (l->s == s) {
			*p = l->next;
			free(l);
		} else {
			p = &l->next;
		}
	}
}

void reply_answer(struct session *s, uint32_t itt, const struct answer *a,
		  uint32_t want, uint64_t delay_ns)
{
	if (delay_ns)
		answer_later(s, itt, a, want, delay_ns);
	else
		answer_now(s, itt, a, want);
}
