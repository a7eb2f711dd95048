#include "initiator/iscsi_link.h"

#include <errno.h>
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "initiator/iscsi_login.h"
#include "initiator/iscsi_loss.h"
#include "initiator/resolve.h"
#include "initiator/sends.h"
#include "initiator/wire.h"

enum { REDIRECTS_MAX = 5 };
#define LOGOUT_LIMIT_NS NS_PER_SEC

enum link_state {
	LINK_RESOLVING,
	LINK_CONNECTING,
	LINK_LOGIN,
	LINK_UP,
	LINK_LOGOUT,
	LINK_DOWN,
	LINK_STATES
};

#define TO(state) (1u << (state))
static const unsigned int allowed[LINK_STATES] = {
	[LINK_RESOLVING] = TO(LINK_CONNECTING) | TO(LINK_DOWN),
	[LINK_CONNECTING] =
		TO(LINK_CONNECTING) | TO(LINK_LOGIN) | TO(LINK_DOWN),
	[LINK_LOGIN] = TO(LINK_UP) | TO(LINK_RESOLVING) | TO(LINK_DOWN),
	[LINK_UP] = TO(LINK_LOGOUT) | TO(LINK_DOWN),
	[LINK_LOGOUT] = TO(LINK_DOWN),
	[LINK_DOWN] = 0,
};

struct link {
	struct link_setup setup;
	enum link_state state;
	char initiator_name[224];
	char host[256]; /* of the URL, or where we were sent */
	uint16_t port;
	unsigned int redirects;
	uint64_t deadline_ns; /* to share among the addresses */

	struct resolve *resolve; /* owned while looking up */
	struct portals portals;
	size_t portal; /* index of the one in use */

	struct iscsi_context *ctx; /* owned */
	struct wire *wire;	   /* owned, around ctx's socket; NULL: plain */
	struct sends *sends;	   /* of the loop */
	struct send send;	   /* the wire's */
	struct loop_fd fd;
	uint32_t mask; /* that fd is registered for; 0: it is not */
	struct loop_timer timer;
	struct loop_task down_task;
	bool in_service; /* libiscsi is on the stack */
	bool is_connected, is_failed, is_logged_out, tell_sent;
	int socket_error;
	struct login login;
	struct err down; /* why, once DOWN */
	char stage[448];
};

/* "127.0.0.1:3260", or with the name that led there. */
static const char *place(const struct link *l, char *buf, size_t size)
{
	const char *portal = link_portal(l);
	const char *address = *portal == '[' ? portal + 1 : portal;

	if (strncmp(address, l->host, strlen(l->host)) == 0)
		snprintf(buf, size, "%s", portal);
	else
		snprintf(buf, size, "%s:%u (%s)", l->host, l->port, portal);
	return buf;
}

static void note_stage(struct link *l)
{
	static const char *const what[LINK_STATES] = {
		[LINK_RESOLVING] = "looking up the host",
		[LINK_CONNECTING] = "connecting to",
		[LINK_LOGIN] = "waiting for the login response of",
		[LINK_UP] = "waiting for a reply of",
		[LINK_LOGOUT] = "waiting for the logout response of",
		[LINK_DOWN] = "disconnected from",
	};
	char where[400];

	if (l->state == LINK_RESOLVING)
		snprintf(where, sizeof(where), "\"%s\"", l->host);
	else
		place(l, where, sizeof(where));
	snprintf(l->stage, sizeof(l->stage), "%s %s", what[l->state], where);
}

static void set_state(struct link *l, enum link_state to)
{
	if (!(allowed[l->state] & TO(to)))
		abort(); /* a bug here, never the target's doing */
	l->state = to;
	note_stage(l);
}

static void connect_next(struct link *l);
static void start_resolve(struct link *l);

static void drop_context(struct link *l)
{
	if (l->mask)
		loop_fd_del(l->setup.loop, &l->fd);
	l->mask = 0;
	sends_cancel(l->sends, &l->send);
	wire_free(l->wire); /* before its descriptor may be another's */
	l->wire = NULL;
	if (l->ctx)
		iscsi_destroy_context(l->ctx);
	l->ctx = NULL;
	l->is_connected = l->is_failed = false;
	l->socket_error = 0;
}

/* The context stays, unused: destroying it now could be inside its own
 * callback. */
static void go_down(struct link *l)
{
	if (l->state == LINK_DOWN)
		return;
	set_state(l, LINK_DOWN);
	if (l->mask)
		loop_fd_del(l->setup.loop, &l->fd);
	l->mask = 0;
	sends_cancel(l->sends, &l->send);
	loop_timer_cancel(l->setup.loop, &l->timer);
	loop_defer(l->setup.loop, &l->down_task);
}

static void on_down_task(struct loop_task *t)
{
	struct link *l = (void *)((char *)t - offsetof(struct link, down_task));

	l->setup.events->on_down(l->setup.user, &l->down);
}

static void lost(struct link *l, bool hang_up)
{
	char where[400];
	const struct loss loss = {
		.where = place(l, where, sizeof(where)),
		.ctx = l->ctx,
		.wire = l->wire,
		.fd = l->fd.fd,
		.socket_error = l->socket_error,
		.in_login = l->state == LINK_LOGIN,
		.hang_up = hang_up,
	};

	loss_explain(&loss, &l->down);
	go_down(l);
}

/* --- libiscsi's events --- */

static uint32_t wanted_mask(struct link *l)
{
	return EPOLLRDHUP |
	       (iscsi_which_events(l->ctx) & POLLIN ? EPOLLIN : 0) |
	       (link_has_output(l) ? EPOLLOUT : 0);
}

static void update_mask(struct link *l)
{
	uint32_t mask = wanted_mask(l);

	if (mask == l->mask)
		return;
	loop_fd_mod(l->setup.loop, &l->fd, mask);
	l->mask = mask;
}

/* One call into libiscsi. False when it, or a callback, says that the session
 * is over: it returns 0 for a lost session too, having cancelled everything. */
static bool service_once(struct link *l, int revents)
{
	struct wire *before = wire_enter(l->wire);
	int ret;

	l->in_service = true;
	if (l->state == LINK_LOGIN)
		ret = login_service(&l->login, l->ctx, revents);
	else
		ret = iscsi_service(l->ctx, revents);
	l->in_service = false;
	wire_leave(before);
	return ret == 0 && !l->is_failed;
}

/* libiscsi reads a PDU at a time where it waits for no more. What the wire has
 * received beyond that is read now: no event will come for it. */
static bool service(struct link *l, int revents)
{
	size_t left, before = 0;

	if (!service_once(l, revents))
		return false;
	while ((left = wire_input(l->wire)) && left != before &&
	       l->login.state <= LOGIN_GOOD && !l->is_logged_out) {
		before = left;
		if (!service_once(l, POLLIN))
			return false;
	}
	return true;
}

static void redirect(struct link *l)
{
	char where[400];

	place(l, where, sizeof(where));
	if (++l->redirects > REDIRECTS_MAX) {
		err_set(&l->down, -ELOOP,
			"%s sends us on to yet another portal: %d redirects "
			"followed, that is a loop",
			where, REDIRECTS_MAX);
		go_down(l);
		return;
	}
	if (login_redirect(l->ctx, l->host, sizeof(l->host), &l->port)) {
		err_set(&l->down, -EPROTO,
			"%s redirects us to \"%s\", which is no portal", where,
			iscsi_get_target_address(l->ctx));
		go_down(l);
		return;
	}
	drop_context(l);
	set_state(l, LINK_RESOLVING);
	start_resolve(l);
}

static void login_progress(struct link *l, bool is_alive, bool hang_up)
{
	char where[400];

	switch (l->login.state) {
	case LOGIN_GOOD:
		set_state(l, LINK_UP);
		l->setup.events->on_up(l->setup.user);
		break;
	case LOGIN_REDIRECTED:
		redirect(l);
		break;
	case LOGIN_FAILED:
		place(l, where, sizeof(where));
		l->down = l->login.error;
		err_prefix(&l->down, "%s", where);
		go_down(l);
		break;
	case LOGIN_PENDING:
		if (!is_alive || hang_up)
			lost(l, hang_up);
		break;
	}
}

/* After libiscsi worked: what that means for the state. */
static void settle(struct link *l, bool is_alive, bool hang_up)
{
	if (l->state == LINK_LOGIN)
		login_progress(l, is_alive, hang_up);
	else if (l->state == LINK_LOGOUT &&
		 (l->is_logged_out || !is_alive || hang_up))
		go_down(l);
	else if (!is_alive || hang_up || !iscsi_is_logged_in(l->ctx))
		lost(l, hang_up);
}

static bool is_talking(const struct link *l)
{
	return l->state == LINK_LOGIN || l->state == LINK_UP ||
	       l->state == LINK_LOGOUT;
}

/* libiscsi has a PDU that may be sent now. */
static bool library_has_output(struct link *l)
{
	return iscsi_which_events(l->ctx) & POLLOUT;
}

/* After all that can go now has gone. */
static void note_output(struct link *l)
{
	if (is_talking(l))
		update_mask(l);
	wire_settled(l->wire, link_held(l));
	if (l->tell_sent && l->state == LINK_UP && !link_has_output(l)) {
		l->tell_sent = false;
		l->setup.events->on_sent(l->setup.user);
	}
}

static bool on_send_turn(struct send *s, struct msghdr *m)
{
	struct link *l = (void *)((char *)s - offsetof(struct link, send));

	if (wire_message(l->wire, m))
		return true;
	note_output(l); /* the wire was full and has sent it itself */
	return false;
}

static void on_send_done(struct send *s, ssize_t result)
{
	struct link *l = (void *)((char *)s - offsetof(struct link, send));
	int ret = wire_sent(l->wire, result);

	if (ret && ret != -EAGAIN) {
		l->socket_error = -ret;
		settle(l, false, false);
	}
	note_output(l);
}

/* What libiscsi's callbacks have queued leaves at the end of this turn, with
 * what other sessions have. Not while connecting: libiscsi would take any
 * POLLOUT for "connected". */
static void flush_output(struct link *l)
{
	if (is_talking(l) && library_has_output(l))
		settle(l, service(l, POLLOUT), false);
	if (is_talking(l) && wire_has_output(l->wire)) {
		l->send.fd = l->fd.fd;
		sends_add(l->sends, &l->send);
	} else {
		note_output(l);
	}
}

static void on_connected(struct iscsi_context *ctx, int status, void *data,
			 void *user)
{
	struct link *l = user;

	(void)ctx;
	(void)data;
	/* It comes again, with another status, when a connection goes. */
	if (status == SCSI_STATUS_GOOD)
		l->is_connected = true;
}

static void connect_failed(struct link *l, int code)
{
	char where[400];

	loop_timer_cancel(l->setup.loop, &l->timer);
	loss_explain_connect(place(l, where, sizeof(where)), code, &l->down);
	drop_context(l);
	l->portal++;
	connect_next(l);
}

static void connect_event(struct link *l)
{
	int code = loss_take_error(l->fd.fd);

	if (!code && (!service(l, POLLOUT) || !l->is_connected))
		code = EIO;
	if (code) {
		connect_failed(l, code);
		return;
	}
	loop_timer_cancel(l->setup.loop, &l->timer);
	set_state(l, LINK_LOGIN);
	if (login_start(&l->login, l->ctx)) {
		err_set(&l->down, -ENOMEM, "cannot start the login: %s",
			iscsi_get_error(l->ctx));
		go_down(l);
	}
}

static void on_socket(struct loop_fd *f, uint32_t events)
{
	struct link *l = (void *)((char *)f - offsetof(struct link, fd));
	bool hang_up = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);

	if (l->state == LINK_CONNECTING) {
		connect_event(l);
	} else {
		if (events & EPOLLERR)
			l->socket_error = loss_take_error(f->fd);
		/* what arrived before the end is still good */
		if ((events & EPOLLIN) || hang_up)
			settle(l, service(l, POLLIN), hang_up);
	}
	flush_output(l);
}

/* --- connecting --- */

static void on_timer(struct loop_timer *t)
{
	struct link *l = (void *)((char *)t - offsetof(struct link, timer));

	if (l->state == LINK_CONNECTING)
		connect_failed(l, ETIMEDOUT);
	else
		go_down(l); /* a logout that nobody answers */
}

/* An address that swallows our SYN may take its share of the time, not that
 * of the addresses after it. The owner's deadline ends the last. */
static void share_time(struct link *l)
{
	size_t left = l->portals.n - l->portal;
	uint64_t now = loop_now_ns(l->setup.loop);

	if (left > 1 && now < l->deadline_ns)
		loop_timer_set(l->setup.loop, &l->timer,
			       now + (l->deadline_ns - now) / left);
}

static int connect_one(struct link *l)
{
	struct err e;
	int code;

	l->ctx = login_context(&l->login, l->initiator_name, &l->setup);
	if (!l->ctx)
		return ENOMEM;
	errno = 0;
	if (iscsi_connect_async(l->ctx, link_portal(l), on_connected, l)) {
		code = login_number(iscsi_get_error(l->ctx));
		return code > 0 ? code : errno ? errno : EIO;
	}
	l->fd.fd = iscsi_get_fd(l->ctx);
	if (!l->setup.opts->plain_wire) {
		l->wire = wire_new(l->fd.fd);
		if (!l->wire)
			return ENOMEM;
		if (l->setup.opts->capture &&
		    wire_capture(l->wire, l->setup.opts->capture))
			return ENOMEM;
	}
	if (loop_fd_add(l->setup.loop, &l->fd, EPOLLOUT | EPOLLRDHUP, &e))
		return -e.code;
	l->mask = EPOLLOUT | EPOLLRDHUP;
	return 0;
}

static void connect_next(struct link *l)
{
	int code;

	if (l->portal >= l->portals.n) {
		l->portal = l->portals.n - 1;
		go_down(l); /* with the last address's reason */
		return;
	}
	set_state(l, LINK_CONNECTING);
	code = connect_one(l);
	if (code)
		connect_failed(l, code);
	else
		share_time(l);
}

static void on_resolved(void *user, const struct portals *p,
			const struct err *e)
{
	struct link *l = user;

	l->resolve = NULL;
	if (e) {
		l->down = *e;
		go_down(l);
		return;
	}
	l->portals = *p;
	l->portal = 0;
	connect_next(l);
}

static void start_resolve(struct link *l)
{
	if (resolve_start(&l->resolve, l->setup.loop, l->host, l->port,
			  on_resolved, l, &l->down))
		go_down(l);
}

/* libiscsi sends data with writev(), which knows no MSG_NOSIGNAL: a write into
 * a connection that the target has dropped would end the program. */
static void block_sigpipe(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int link_open(struct link **out, const struct link_setup *s, struct err *e)
{
	struct link *l;
	int ret = login_check(s->opts, e);

	if (ret)
		return ret;
	l = calloc(1, sizeof(*l));
	if (!l)
		return err_set(e, -ENOMEM, "no memory for an iSCSI session");
	block_sigpipe();
	l->setup = *s;
	l->fd.on_event = on_socket;
	l->send.on_turn = on_send_turn;
	l->send.on_sent = on_send_done;
	l->sends = loop_sends(s->loop);
	if (!l->sends) {
		free(l);
		return err_set(e, -ENOMEM, "no memory for an iSCSI session");
	}
	l->timer.on_timer = on_timer;
	l->down_task.on_task = on_down_task;
	strcpy(l->host, s->url->host);
	l->port = s->url->port;
	l->deadline_ns = loop_now_ns(s->loop) + s->opts->connect_timeout_ns;
	login_name(l->initiator_name, s);
	note_stage(l);
	*out = l;
	start_resolve(l);
	return 0;
}

void link_free(struct link *l)
{
	if (!l)
		return;
	resolve_cancel(l->resolve);
	loop_timer_cancel(l->setup.loop, &l->timer);
	if (l->down_task.is_queued)
		loop_defer_cancel(l->setup.loop, &l->down_task);
	drop_context(l);
	login_wipe(&l->login);
	free(l);
}

static void on_logged_out(struct iscsi_context *ctx, int status, void *data,
			  void *user)
{
	struct link *l = user;

	(void)ctx;
	(void)status;
	(void)data;
	l->is_logged_out = true;
}

void link_logout(struct link *l)
{
	if (l->state == LINK_DOWN)
		return;
	err_set(&l->down, -ESHUTDOWN, "logged out");
	if (l->state != LINK_UP ||
	    iscsi_logout_async(l->ctx, on_logged_out, l)) {
		go_down(l);
		return;
	}
	set_state(l, LINK_LOGOUT);
	loop_timer_set(l->setup.loop, &l->timer,
		       loop_now_ns(l->setup.loop) + LOGOUT_LIMIT_NS);
	flush_output(l);
}

/* --- what others ask --- */

bool link_is_up(const struct link *l)
{
	return l->state == LINK_UP && !l->is_failed;
}

const char *link_portal(const struct link *l)
{
	return l->portals.n ? l->portals.text[l->portal] : l->host;
}

const char *link_stage(const struct link *l)
{
	return l->stage;
}

void link_describe(const struct link *l,
		   void (*emit)(void *user, const char *key, const char *value),
		   void *user)
{
	emit(user, "Portal", link_portal(l));
	emit(user, "InitiatorName", l->initiator_name);
	emit(user, "Wire", l->setup.opts->plain_wire ? "plain" : "batch");
	login_describe(&l->login, emit, user);
}

struct iscsi_context *link_context(struct link *l)
{
	return l->ctx;
}

void link_fail(struct link *l)
{
	l->is_failed = true;
}

bool link_has_output(struct link *l)
{
	return library_has_output(l) || wire_has_output(l->wire);
}

const struct wire *link_wire(const struct link *l)
{
	return l->wire;
}

/* libiscsi wants to write whenever the first PDU in its queue may be sent; what
 * waits while it does not is beyond MaxCmdSN. (Its count walks the queue, which
 * is empty where nothing waits.) */
unsigned int link_held(struct link *l)
{
	if (!link_is_up(l) || l->in_service || library_has_output(l))
		return 0;
	return iscsi_out_queue_length(l->ctx);
}

void link_tell_sent(struct link *l)
{
	l->tell_sent = true;
}

void link_kick(struct link *l)
{
	if (l->state == LINK_UP && !l->in_service)
		flush_output(l);
}
