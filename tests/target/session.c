#include "tests/target/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/target/session_state.h"

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
	return out_has_room(&s->out, PDUS_AT_ONCE);
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
			ret = pdu_begin(s);
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
		ret = pdu_finish(s);
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
	struct kept *k;
	uint32_t i;

	while ((k = s->kept)) {
		s->kept = k->next;
		free(k->data);
		free(k);
	}
	for (i = 0; i < s->nr_tasks; i++)
		free(s->tasks[i].scratch);
	reply_forget(s);
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
		if (l->opens)
			reply_open(s);
		else
			reply_answer(s, l->itt, &l->answer, l->want, 0);
		free(l);
		settle(s, serve(s));
	}
	if (!l)
		return -1;
	return l->at_ns > now_ns ? (int64_t)(l->at_ns - now_ns) : 1000000;
}
