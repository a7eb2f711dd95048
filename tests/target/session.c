#include "tests/target/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/target/bytes.h"
#include "tests/target/login.h"
#include "tests/target/out.h"
#include "tests/target/scsi.h"

enum {
	HEADER = 48,
	IN_BYTES = 256 << 10,
	TEXT_BYTES = 16 << 10,
	/* A data segment that large goes straight to its place; then little
	 * more than it is read at once. */
	LARGE = 16 << 10,
	LITTLE = 1024,
	TASKS = 4096,
	NONE = UINT32_MAX,
};

/* Opcodes, RFC 7143 section 11.2.1.2. */
enum {
	NOP_OUT = 0x00,
	COMMAND = 0x01,
	TASK_MANAGEMENT = 0x02,
	LOGIN = 0x03,
	TEXT = 0x04,
	DATA_OUT = 0x05,
	LOGOUT = 0x06,
	NOP_IN = 0x20,
	RESPONSE = 0x21,
	TASK_RESPONSE = 0x22,
	LOGIN_RESPONSE = 0x23,
	TEXT_RESPONSE = 0x24,
	DATA_IN = 0x25,
	LOGOUT_RESPONSE = 0x26,
	R2T = 0x31,
};

struct task { /* a write that waits for data; its index is its TTT */
	uint32_t itt, want, got, r2t_left, r2t_sn, next_free;
	bool is_taken, is_stalled;
	uint8_t *to; /* NULL: nowhere */
	uint64_t delay_ns;
	struct answer answer;
};

struct session {
	struct target *t;
	int fd;
	bool is_full, is_over; /* past the login; to close when all is sent */
	bool cut;	       /* the next answer is cut short */
	bool wants_ping;       /* after the next answer */
	bool is_short;	       /* the next read: half of it, and no word */
	uint32_t events;
	uint32_t stat_sn, cmd_sn; /* cmd_sn: ExpCmdSN */
	uint32_t outstanding;	  /* commands without an answer */
	struct login_keys keys;

	uint8_t *in; /* owned */
	size_t in_first, in_end, in_limit;
	uint8_t header[HEADER];	  /* of the PDU whose data comes */
	uint8_t *data;		  /* where it goes; NULL: nowhere */
	uint32_t data_left, skip; /* bytes of it, and of the padding */
	bool in_data;
	uint8_t text[TEXT_BYTES]; /* of login, text and NOP */

	struct task *tasks; /* owned */
	uint32_t nr_tasks, free_task;
	struct task *current; /* that the data belongs to */
	struct out out;
};

struct later {
	struct later *next;
	uint64_t at_ns;
	struct session *s;
	uint32_t itt, want;
	struct answer answer;
};

/* --- out --- */

static void put_sns(struct session *s, uint8_t *h, bool with_status)
{
	put32(h + 24, s->stat_sn);
	put32(h + 28, s->cmd_sn);
	put32(h + 32, s->cmd_sn + s->t->script.window - 1 - s->outstanding);
	if (with_status)
		s->stat_sn++;
}

static uint8_t *put_header(struct session *s, uint8_t opcode, uint8_t flags,
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

/* Copied, and padded. */
static void put_data(struct session *s, uint8_t *h, const void *data, size_t n)
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
	uint8_t *h = put_header(s, RESPONSE, 0x80, itt, true);

	h[3] = a->status;
	if (a->status == 0x02) {
		sense[14] = a->asc;
		sense[15] = a->ascq;
		put_data(s, h, sense, sizeof(sense));
	} else if (!a->status) {
		h[1] |= residual(h, want, has);
	}
}

static void answer_read(struct session *s, uint32_t itt, const struct answer *a,
			uint32_t want)
{
	uint32_t n = a->bytes < want ? a->bytes : want, at = 0, sn = 0;
	uint8_t *from =
		s->t->store + a->offset_bytes % s->t->script.store_bytes;

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
		h = put_header(s, DATA_IN, 0, itt, is_last);
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
	put32(put_header(s, NOP_IN, 0x80, NONE, false) + 20, 1);
}

static void answer_data(struct session *s, uint32_t itt, const struct answer *a,
			uint32_t want)
{
	uint32_t n = a->bytes < want ? a->bytes : want;
	uint8_t *h = put_header(s, DATA_IN, 0x81, itt, true);

	h[1] |= residual(h, want, n);
	put_data(s, h, a->data, n);
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
}

/* --- later --- */

static void answer_later(struct session *s, uint32_t itt,
			 const struct answer *a, uint32_t want,
			 uint64_t delay_ns)
{
	struct later *l = malloc(sizeof(*l)), **p = &s->t->later;

	if (!l)
		abort();
	l->at_ns = clock_now_ns() + delay_ns;
	l->s = s;
	l->itt = itt;
	l->want = want;
	l->answer = *a;
	while (*p && (*p)->at_ns <= l->at_ns)
		p = &(*p)->next;
	l->next = *p;
	*p = l;
}

static void forget_later(struct session *s)
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

static void answer(struct session *s, uint32_t itt, const struct answer *a,
		   uint32_t want, uint64_t delay_ns)
{
	if (delay_ns)
		answer_later(s, itt, a, want, delay_ns);
	else
		answer_now(s, itt, a, want);
}

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
	t->next_free = s->free_task;
	s->free_task = t - s->tasks;
}

static void ask_for_data(struct session *s, struct task *t)
{
	uint32_t most = s->keys.max_burst, n = t->want - t->got;
	uint8_t *h;

	if (s->t->script.r2t_bytes && s->t->script.r2t_bytes < most)
		most = s->t->script.r2t_bytes;
	if (n > most)
		n = most;
	h = put_header(s, R2T, 0x80, t->itt, false);
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
	if (!t->is_stalled)
		answer(s, t->itt, &t->answer, t->want, t->delay_ns);
	drop_task(s, t);
}

static int begin_write(struct session *s, const struct answer *a, uint32_t want,
		       uint64_t delay_ns, bool is_stalled)
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
	uint8_t *h = put_header(s, opcode, flags, get32(s->header + 16), true);

	memcpy(h + 8, s->header + 8, 6);
	if (opcode == LOGIN_RESPONSE) {
		put16(h + 14, 1); /* TSIH */
		put32(h + 20, 0);
	}
	put_data(s, h, text, n);
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
		put_data(s, put_header(s, NOP_IN, 0x80, itt, true), s->text, n);
	return 0;
}

static void stray_data(struct session *s, uint32_t itt)
{
	uint8_t zeros[512] = {0};

	put_data(s, put_header(s, DATA_IN, 0, itt, false), zeros,
		 sizeof(zeros));
}

static void stray_r2t(struct session *s, uint32_t itt, uint32_t bytes)
{
	put32(put_header(s, R2T, 0x80, itt, false) + 44, bytes);
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
		stray_r2t(s, itt, a->bytes);
		a->kind = ANSWER;
		a->bytes = 0;
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
	r = script_meet(&s->t->script, a.what);
	if (r) {
		is_answered = obey(s, r, &a, itt);
		delay_ns = r->act == ACT_DELAY ? r->delay_ns : 0;
		is_early = r->act == ACT_EARLY;
		if (r->act == ACT_DROP)
			return -ESHUTDOWN;
	}
	if (is_write && want && !a.status && !is_early)
		return begin_write(s, &a, want, delay_ns, !is_answered);
	if (is_answered)
		answer(s, itt, &a, want, delay_ns);
	return 0;
}

static int on_logout(struct session *s)
{
	const struct rule *r = script_meet(&s->t->script, WHAT_LOGOUT);
	uint32_t itt = get32(s->header + 16);

	if (r && r->act == ACT_DROP)
		return -ESHUTDOWN;
	if (r && r->act == ACT_STALL)
		return 0;
	if (r && r->act == ACT_DATA_IN)
		stray_data(s, itt);
	put_header(s, LOGOUT_RESPONSE, 0x80, itt, true);
	s->is_over = true;
	return 0;
}

/* The header is in: where does its data go? */
static int begin_pdu(struct session *s)
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

static int finish_pdu(struct session *s)
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
		put_header(s, TASK_RESPONSE, 0x80, get32(h + 16), true);
		return 0;
	case LOGOUT:
		return on_logout(s);
	}
	return -EPROTO;
}

/* --- in --- */

/* Takes @n bytes of the data segment that are at @from. */
static void take_data(struct session *s, const uint8_t *from, size_t n)
{
	if (s->data) {
		memcpy(s->data, from, n);
		s->data += n;
	}
	s->data_left -= n;
}

/* Most PDUs that one command can bring about. */
static bool has_room(const struct session *s)
{
	return out_has_room(&s->out, 600);
}

/* PDUs out of the buffer, as far as it and the room for answers reach. */
static int parse(struct session *s)
{
	size_t n;
	int ret;

	while (!s->is_over) {
		n = s->in_end - s->in_first;
		if (!s->in_data) {
			if (n < HEADER || !has_room(s))
				return 0;
			memcpy(s->header, s->in + s->in_first, HEADER);
			s->in_first += HEADER;
			ret = begin_pdu(s);
			if (ret)
				return ret;
			continue;
		}
		if (n > s->data_left)
			n = s->data_left;
		take_data(s, s->in + s->in_first, n);
		s->in_first += n;
		if (s->data_left)
			return 0;
		if (s->in_end - s->in_first < s->skip)
			return 0;
		s->in_first += s->skip;
		s->skip = 0;
		ret = finish_pdu(s);
		if (ret)
			return ret;
	}
	return 0;
}

/* Bytes received; 0: none now; -errno. */
static ssize_t receive(struct session *s, size_t *asked)
{
	struct iovec v[2];
	struct msghdr m = {.msg_iov = v};
	size_t direct = s->in_data && s->data ? s->data_left : 0;
	ssize_t n;

	memmove(s->in, s->in + s->in_first, s->in_end - s->in_first);
	s->in_end -= s->in_first;
	s->in_first = 0;
	if (s->in_end)
		direct = 0; /* only a header or padding can be left */
	if (direct)
		v[m.msg_iovlen++] = (struct iovec){s->data, direct};
	*asked = direct + s->in_limit - s->in_end;
	v[m.msg_iovlen++] =
		(struct iovec){s->in + s->in_end, s->in_limit - s->in_end};
	do
		n = recvmsg(s->fd, &m, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (!n)
		return -ECONNRESET;
	if ((size_t)n < direct)
		direct = n;
	if (direct) {
		s->data += direct;
		s->data_left -= direct;
	}
	s->in_end += n - direct;
	return n;
}

/* All that can be done now. */
static int serve(struct session *s)
{
	bool is_drained = false;
	size_t asked;
	ssize_t n;
	int ret;

	for (;;) {
		ret = parse(s);
		if (ret)
			return ret;
		ret = out_flush(&s->out, s->fd);
		if (ret && ret != -EAGAIN)
			return ret;
		if (s->is_over && !ret)
			return -ESHUTDOWN;
		if (s->is_over || !has_room(s))
			return 0;
		if (!s->in_data && s->in_end - s->in_first >= HEADER)
			continue; /* it was the room that lacked */
		if (is_drained)
			return 0;
		n = receive(s, &asked);
		if (n <= 0)
			return n;
		is_drained = (size_t)n < asked;
	}
}

/* --- life --- */

struct session *session_new(struct target *t, int fd)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s || out_init(&s->out) || !(s->in = malloc(IN_BYTES)) ||
	    !(s->tasks = calloc(TASKS, sizeof(*s->tasks))))
		abort();
	s->t = t;
	s->fd = fd;
	s->in_limit = IN_BYTES;
	s->free_task = NONE;
	s->stat_sn = 1;
	login_keys_init(&s->keys);
	return s;
}

static void session_free(struct session *s)
{
	forget_later(s);
	close(s->fd);
	out_release(&s->out);
	free(s->in);
	free(s->tasks);
	free(s);
}

static void settle(struct session *s, int ret)
{
	struct epoll_event ev = {.data.ptr = s};

	if (ret && ret != -EAGAIN) {
		session_free(s);
		return;
	}
	ev.events = EPOLLIN;
	if (!out_is_empty(&s->out))
		ev.events = has_room(s) ? EPOLLIN | EPOLLOUT : EPOLLOUT;
	if (ev.events == s->events)
		return;
	epoll_ctl(s->t->epoll_fd, s->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
		  s->fd, &ev);
	s->events = ev.events;
}

void session_event(struct session *s, uint32_t epoll_events)
{
	(void)epoll_events;
	settle(s, serve(s));
}

int64_t session_run_later(struct target *t, uint64_t now_ns)
{
	struct later *l;

	while ((l = t->later) && l->at_ns <= now_ns && has_room(l->s)) {
		struct session *s = l->s;

		t->later = l->next;
		answer_now(s, l->itt, &l->answer, l->want);
		free(l);
		settle(s, serve(s));
	}
	if (!l)
		return -1;
	return l->at_ns > now_ns ? (int64_t)(l->at_ns - now_ns) : 1000000;
}
