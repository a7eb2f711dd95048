#include "vm/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "vm/talk.h"

/* A greeting may come amid an earlier session, and be lost: then once more. */
#define GREET_NS (10 * NS_PER_SEC)
#define GREET_TIMES 3

enum { WAIT_MS = 100, LEAVE = 0x1d }; /* Ctrl-] */

struct session {
	const struct shell_opts *o;
	int lock, fd; /* owned */
	uint64_t end_ns;
	struct talk_in in;
	struct talk_out out;
	bool has_input; /* more may come */
	bool was_signalled;
	bool is_left; /* by Ctrl-] */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* --- getting through --- */

/* The first port that nobody uses. */
static int take_port(struct session *s, const char *folder, char path[PATH_MAX],
		     struct err *e)
{
	char lock[PATH_MAX];

	for (int i = 0; i < SHELL_PORTS; i++) {
		snprintf(lock, sizeof(lock), "%s/shell%d.lock", folder, i);
		s->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			       0600);
		if (s->lock < 0)
			return err_set(e, -errno, "cannot open \"%s\": %s",
				       lock, strerror(errno));
		if (!flock(s->lock, LOCK_EX | LOCK_NB)) {
			snprintf(path, PATH_MAX, "%s/shell%d", folder, i);
			return 0;
		}
		close_fd(&s->lock);
	}
	return err_set(e, -EBUSY,
		       "all %d ports of the guest are in use: leave one of its "
		       "shells",
		       SHELL_PORTS);
}

static int is_late(const struct session *s, struct err *e)
{
	if (s->o->stop && *s->o->stop)
		return err_set(e, -EINTR, "interrupted");
	if (!s->end_ns || clock_now_ns() < s->end_ns)
		return 0;
	return err_set(e, -ETIMEDOUT, "the guest did not answer within %.3g s",
		       s->o->deadline_ns / 1e9);
}

/* Until the command runs, a signal is not yet its. */
static int is_over(const struct session *s, struct err *e)
{
	if (s->o->signal && *s->o->signal)
		return err_set(e, -EINTR, "interrupted");
	return is_late(s, e);
}

static int is_gone(struct err *e)
{
	return err_set(e, -EPIPE, "the guest is gone");
}

/* Both: 0; -EAGAIN: no answer in this while. A guest that stands still takes no
 * calls, and those before fill the queue. */
static int dial(struct session *s, const char *path, struct err *e)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	uint64_t end = clock_now_ns() + GREET_NS;
	int err = 0;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	while (!err && connect(s->fd, (struct sockaddr *)&a, sizeof(a))) {
		if (errno != EAGAIN)
			return err_set(e, -errno,
				       "cannot reach the guest (\"%s\": %s)",
				       path, strerror(errno));
		if (clock_now_ns() > end)
			return -EAGAIN;
		poll(NULL, 0, WAIT_MS);
		err = is_over(s, e);
	}
	return err;
}

static int greet(struct session *s, struct err *e)
{
	unsigned char greeting[TALK_GREETING];
	uint64_t nonce, end = clock_now_ns() + GREET_NS;
	struct pollfd p = {s->fd, POLLIN, 0};
	int err = 0;
	long n;

	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		nonce = clock_now_ns();
	talk_greeting(greeting, nonce);
	s->in.len = s->out.len = s->out.at = 0;
	talk_add_raw(&s->out, greeting, sizeof(greeting));
	while (!err && !talk_find_greeting(&s->in, greeting, false)) {
		err = talk_write(&s->out, s->fd);
		if (err)
			return is_gone(e);
		poll(&p, 1, WAIT_MS);
		n = talk_read(&s->in, s->fd);
		if (!n || (n < 0 && n != -EAGAIN))
			return is_gone(e);
		err = is_over(s, e);
		if (!err && clock_now_ns() > end)
			return -EAGAIN;
	}
	return err;
}

static int get_through(struct session *s, const char *folder, struct err *e)
{
	char path[PATH_MAX];
	int err = take_port(s, folder, path, e);

	for (int i = 0; i < GREET_TIMES && !err; i++) {
		close_fd(&s->fd);
		err = dial(s, path, e);
		if (!err)
			err = greet(s, e);
		if (err != -EAGAIN)
			return err;
		err = 0;
	}
	return err ? err
		   : err_set(e, -ETIMEDOUT,
			     "the guest does not answer; see its console in "
			     "\"%s\"",
			     folder);
}

/* --- what goes there --- */

static void window(const struct session *s, uint16_t size[2])
{
	struct winsize w = {.ws_row = 24, .ws_col = 80};

	if (s->o->is_terminal)
		ioctl(s->o->input, TIOCGWINSZ, &w);
	size[0] = w.ws_row;
	size[1] = w.ws_col;
}

static int start(struct session *s, struct err *e)
{
	struct talk_start what = {.is_terminal = s->o->is_terminal,
				  .env = s->o->env,
				  .command = s->o->command};
	uint16_t size[2];

	window(s, size);
	what.rows = size[0];
	what.columns = size[1];
	return talk_add_start(&s->out, &what, e);
}

static void send_input(struct session *s)
{
	char buf[TALK_MAX];
	char *leave;
	ssize_t n;

	n = read(s->o->input, buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		n = 0;
	leave = s->o->is_terminal ? memchr(buf, LEAVE, n) : NULL;
	s->is_left = leave;
	s->has_input = n > 0;
	talk_add(&s->out, TALK_INPUT, buf, leave ? leave - buf : n);
}

/* A signal that comes again while the command still runs ends the session: the
 * guest may be dead. */
static int send_signal(struct session *s, struct err *e)
{
	unsigned char number;
	uint16_t size[2];

	if (s->o->is_resized && *s->o->is_resized && talk_has_room(&s->out)) {
		*s->o->is_resized = 0;
		window(s, size);
		talk_add(&s->out, TALK_SIZE, size, sizeof(size));
	}
	if (!s->o->signal || !*s->o->signal)
		return 0;
	number = *s->o->signal;
	*s->o->signal = 0;
	if (s->was_signalled || !talk_has_room(&s->out))
		return err_set(e, -EINTR, "interrupted");
	s->was_signalled = true;
	talk_add(&s->out, TALK_SIGNAL, &number, 1);
	return 0;
}

/* --- what comes back --- */

/* 1: it has ended. */
static int hear(struct session *s, int *status, struct err *e)
{
	struct talk_frame f;
	int err, ended = 0;

	while (!ended && !(err = talk_peek(&s->in, &f))) {
		if (f.type == TALK_EXIT && f.len == 1) {
			*status = f.data[0];
			ended = 1;
		} else if (f.type == TALK_OUT || f.type == TALK_ERR) {
			s->o->on_output(s->o->user, f.type == TALK_OUT ? 1 : 2,
					(const char *)f.data, f.len);
		}
		talk_drop(&s->in, &f);
	}
	if (!ended && err == -EBADMSG)
		return err_set(e, err, "the guest talks nonsense");
	return ended;
}

static int wait_for_it(struct session *s)
{
	bool room = talk_has_room(&s->out);
	struct pollfd p[2] = {
		{s->fd, POLLIN | (s->out.len ? POLLOUT : 0), 0},
		{s->has_input && room ? s->o->input : -1, POLLIN, 0}};

	/* Signals that come before the poll are seen a little later. */
	if (poll(p, 2, WAIT_MS) > 0 && p[1].revents)
		send_input(s);
	return p[0].revents;
}

static int pump(struct session *s, int *status, struct err *e)
{
	int err = 0, events;
	long n;

	while (!err && !s->is_left) {
		err = talk_write(&s->out, s->fd) ? is_gone(e) : 0;
		if (err)
			break;
		events = wait_for_it(s);
		n = events & (POLLIN | POLLHUP) ? talk_read(&s->in, s->fd)
						: -EAGAIN;
		err = hear(s, status, e);
		if (!err && (!n || (n < 0 && n != -EAGAIN)))
			err = is_gone(e);
		if (!err)
			err = send_signal(s, e);
		if (!err)
			err = is_late(s, e);
	}
	return err > 0 ? 0 : err;
}

int shell_run(const char *folder, const struct shell_opts *o, int *status,
	      struct err *e)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	*status = 0;
	if (!s)
		return err_set(e, -ENOMEM, "no memory for a shell");
	s->o = o;
	s->lock = s->fd = -1;
	s->end_ns = o->deadline_ns ? clock_now_ns() + o->deadline_ns : 0;
	err = get_through(s, folder, e);
	if (!err)
		err = start(s, e);
	s->has_input = o->input >= 0;
	if (!err && !s->has_input)
		talk_add(&s->out, TALK_INPUT, NULL, 0);
	if (!err)
		err = pump(s, status, e);
	explicit_bzero(&s->out, sizeof(s->out)); /* the environment's secrets */
	close_fd(&s->fd);
	close_fd(&s->lock);
	free(s);
	return err;
}

/* --- asking --- */

enum { ANSWER_MAX = 1 << 20 };

static void keep(void *user, int fd, const char *data, size_t len)
{
	struct shell_answer *a = user;
	char *more;

	if (fd == 2) {
		if (len > sizeof(a->errors) - 1 - a->errors_len)
			len = sizeof(a->errors) - 1 - a->errors_len;
		memcpy(a->errors + a->errors_len, data, len);
		a->errors_len += len;
		return;
	}
	more = a->len + len > ANSWER_MAX ? NULL
					 : realloc(a->text, a->len + len + 1);
	if (!more)
		return;
	a->text = more;
	memcpy(more + a->len, data, len);
	a->len += len;
	more[a->len] = '\0';
}

int shell_ask(const char *folder, const struct shell_opts *asked,
	      struct shell_answer *a, struct err *e)
{
	static const char own[] = "lunbench: ";
	struct shell_opts o = *asked;
	char line[300], *said = line;
	int status, err;

	o.input = -1;
	o.on_output = keep;
	o.user = a;
	err = shell_run(folder, &o, &status, e);
	if (err || !status)
		return err;
	child_last_line(a->errors, line, sizeof(line));
	if (!strncmp(line, own, strlen(own)))
		said += strlen(own);
	/* STATUS_USAGE of the lunbench inside: the question was wrong. */
	return err_set(e, status == 2 ? -EINVAL : -EIO, "in the guest: %s",
		       said);
}
