#include "initiator/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Shared by the waiting side and the thread; the last one out frees it, so
 * that a look-up which nobody waits for may take its minutes. */
struct query {
	pthread_mutex_t lock;
	int users;
	int done_fd; /* owned; eventfd, written once by the thread */
	char host[256];
	uint16_t port;
	int gai_code;
	struct portals portals;
};

struct resolve {
	struct loop *loop;   /* borrowed */
	struct query *query; /* shared */
	struct loop_fd done;
	struct loop_task task; /* for numeric hosts */
	void (*on_done)(void *user, const struct portals *p,
			const struct err *e);
	void *user;
};

static void query_put(struct query *q)
{
	bool last;

	pthread_mutex_lock(&q->lock);
	last = --q->users == 0;
	pthread_mutex_unlock(&q->lock);
	if (!last)
		return;
	if (q->done_fd >= 0)
		close(q->done_fd);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

static bool is_known(const struct portals *p, const char *text)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->text[i], text) == 0)
			return true;
	return false;
}

static int look_up(struct query *q, int flags)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
	struct addrinfo *list, *a;
	char host[64], text[80];
	int code = getaddrinfo(q->host, NULL, &hints, &list);

	if (code)
		return code;
	for (a = list; a && q->portals.n < RESOLVE_MAX; a = a->ai_next) {
		bool is_v6 = a->ai_family == AF_INET6;

		if (getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof(host),
				NULL, 0, NI_NUMERICHOST))
			continue;
		snprintf(text, sizeof(text), is_v6 ? "[%s]:%u" : "%s:%u", host,
			 q->port);
		if (!is_known(&q->portals, text))
			strcpy(q->portals.text[q->portals.n++], text);
	}
	freeaddrinfo(list);
	return q->portals.n ? 0 : EAI_NONAME;
}

static void *thread_main(void *arg)
{
	struct query *q = arg;
	uint64_t one = 1;

	q->gai_code = look_up(q, 0);
	if (write(q->done_fd, &one, sizeof(one)) < 0)
		abort(); /* an eventfd that is ours cannot refuse a 1 */
	query_put(q);
	return NULL;
}

static int lookup_error(const struct query *q, struct err *e)
{
	switch (q->gai_code) {
	case EAI_NONAME:
	case EAI_NODATA:
		return err_set(e, -ENOENT,
			       "unknown host \"%s\": no address for that name",
			       q->host);
	case EAI_AGAIN:
		return err_set(e, -EADDRNOTAVAIL,
			       "unknown host \"%s\": the name service did not "
			       "answer",
			       q->host);
	}
	return err_set(e, -EADDRNOTAVAIL, "unknown host \"%s\": %s", q->host,
		       gai_strerror(q->gai_code));
}

static void finish(struct resolve *r)
{
	struct query *q = r->query;
	struct err e;

	loop_fd_del(r->loop, &r->done);
	if (q->gai_code) {
		lookup_error(q, &e);
		r->on_done(r->user, NULL, &e);
	} else {
		r->on_done(r->user, &q->portals, NULL);
	}
	query_put(q);
	free(r);
}

static void on_thread_done(struct loop_fd *f, uint32_t epoll_events)
{
	struct resolve *r =
		(void *)((char *)f - offsetof(struct resolve, done));
	uint64_t count;

	(void)epoll_events;
	if (read(f->fd, &count, sizeof(count)) == sizeof(count))
		finish(r);
}

static void on_numeric_done(struct loop_task *t)
{
	struct resolve *r =
		(void *)((char *)t - offsetof(struct resolve, task));

	r->on_done(r->user, &r->query->portals, NULL);
	query_put(r->query);
	free(r);
}

/* Signals are the main thread's business. */
static int start_thread(struct query *q)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	int code;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	q->users++;
	code = pthread_create(&thread, &attr, thread_main, q);
	if (code)
		q->users--;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -code;
}

static int start(struct resolve *r, struct err *e)
{
	struct query *q = r->query;
	int ret;

	if (look_up(q, AI_NUMERICHOST) == 0) {
		r->task.on_task = on_numeric_done;
		loop_defer(r->loop, &r->task);
		return 0;
	}
	q->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->done_fd < 0)
		return err_set(e, -errno, "eventfd: %s", strerror(errno));
	r->done.fd = q->done_fd;
	r->done.on_event = on_thread_done;
	ret = loop_fd_add(r->loop, &r->done, EPOLLIN, e);
	if (ret)
		return ret;
	ret = start_thread(q);
	if (ret) {
		loop_fd_del(r->loop, &r->done);
		return err_set(e, ret, "no thread to look up \"%s\": %s",
			       q->host, strerror(-ret));
	}
	return 0;
}

int resolve_start(struct resolve **r, struct loop *loop, const char *host,
		  uint16_t port,
		  void (*on_done)(void *user, const struct portals *p,
				  const struct err *e),
		  void *user, struct err *e)
{
	struct resolve *new = calloc(1, sizeof(*new));
	struct query *q = calloc(1, sizeof(*q));
	int ret;

	if (!new || !q) {
		free(new);
		free(q);
		return err_set(e, -ENOMEM, "no memory to look up \"%s\"", host);
	}
	pthread_mutex_init(&q->lock, NULL);
	q->users = 1;
	q->done_fd = -1;
	snprintf(q->host, sizeof(q->host), "%s", host);
	q->port = port;
	new->loop = loop;
	new->query = q;
	new->on_done = on_done;
	new->user = user;
	ret = start(new, e);
	if (ret) {
		query_put(q);
		free(new);
		return ret;
	}
	*r = new;
	return 0;
}

void resolve_cancel(struct resolve *r)
{
	if (!r)
		return;
	if (r->task.is_queued)
		loop_defer_cancel(r->loop, &r->task);
	if (r->query->done_fd >= 0)
		loop_fd_del(r->loop, &r->done);
	query_put(r->query);
	free(r);
}
