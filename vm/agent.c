#include "vm/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "vm/talk.h"

enum { POLL_MS = 20, PORTS_MAX = 8 };

/* Until the driver has found its ports. */
#define PORT_NS (60 * NS_PER_SEC)

#define HANGUP_NS NS_PER_SEC

#define WORK "/work"

struct session {
	int port; /* borrowed */
	struct talk_in in;
	struct talk_out out;
	pid_t pid;	  /* 0: no command yet */
	int to;		  /* owned, as the next two; its input */
	int from, errors; /* its output */
	int pidfd;
	bool is_terminal;
	unsigned char input[TALK_MAX]; /* for the command, when it takes it */
	size_t input_at, input_len;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void pause_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* --- the command --- */

static void run_command(const struct talk_start *s)
{
	static const char *const shell[] = {"bash", "-l", NULL};
	const char *const *argv =
		s->command && s->command[0] ? s->command : shell;
	sigset_t none;

	/* What the agent ignores, its commands do not. */
	for (int i = 1; i < SIGSYS; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; s->env[i]; i++)
		putenv((char *)s->env[i]);
	if (chdir(WORK))
		dprintf(2, "cannot enter " WORK ": %s\n", strerror(errno));
	execvp(argv[0], (char *const *)argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int start_on_terminal(struct session *s, const struct talk_start *start)
{
	struct winsize w = {.ws_row = start->rows, .ws_col = start->columns};
	int fd;

	s->pid = forkpty(&fd, NULL, NULL, &w);
	if (s->pid < 0)
		return -errno;
	if (!s->pid)
		run_command(start);
	s->from = fd;
	s->to = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return s->to < 0 ? -errno : 0;
}

static int start_on_pipes(struct session *s, const struct talk_start *start)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ||
	    pipe2(err, O_CLOEXEC))
		return -errno;
	s->pid = fork();
	if (!s->pid) {
		setsid();
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		run_command(start);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	s->to = in[1];
	s->from = out[0];
	s->errors = err[0];
	return s->pid < 0 ? -errno : 0;
}

static int start(struct session *s, const struct talk_frame *f)
{
	struct talk_start what;
	const char **words;
	int err = s->pid ? -EBADMSG : talk_parse_start(f, &what, &words);

	if (err)
		return err;
	s->is_terminal = what.is_terminal;
	err = what.is_terminal ? start_on_terminal(s, &what)
			       : start_on_pipes(s, &what);
	free(words);
	if (err)
		return err;
	s->pidfd = pidfd_open(s->pid, 0);
	fcntl(s->from, F_SETFL, O_NONBLOCK);
	fcntl(s->errors, F_SETFL, O_NONBLOCK);
	fcntl(s->to, F_SETFL, O_NONBLOCK);
	return 0;
}

/* --- what the host says --- */

static void set_size(struct session *s, const struct talk_frame *f)
{
	struct winsize w = {0};

	if (f->len != 4 || !s->is_terminal)
		return;
	memcpy(&w.ws_row, f->data, 2);
	memcpy(&w.ws_col, f->data + 2, 2);
	ioctl(s->from, TIOCSWINSZ, &w);
}

/* As far as the command takes it. */
static void feed(struct session *s)
{
	ssize_t n;

	while (s->to >= 0 && s->input_at < s->input_len) {
		n = write(s->to, s->input + s->input_at,
			  s->input_len - s->input_at);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno != EINTR)
			close_fd(&s->to); /* it reads no more */
		if (n > 0)
			s->input_at += n;
	}
	s->input_at = s->input_len = 0;
}

static void take_input(struct session *s, const struct talk_frame *f)
{
	memcpy(s->input, f->data, f->len);
	s->input_len = f->len;
	/* The end of input on a terminal is a character. */
	if (!f->len && s->is_terminal)
		s->input[s->input_len++] = 4;
	feed(s);
	if (!f->len && !s->is_terminal)
		close_fd(&s->to);
}

/* Does what the frames say, until one is input that has to wait. */
static int obey(struct session *s)
{
	struct talk_frame f;
	int err;

	while (!(err = talk_peek(&s->in, &f))) {
		if (f.type == TALK_INPUT && s->input_len)
			return 0;
		if (f.type == TALK_START)
			err = start(s, &f);
		else if (f.type == TALK_INPUT)
			take_input(s, &f);
		else if (f.type == TALK_SIZE)
			set_size(s, &f);
		else if (f.type == TALK_SIGNAL && s->pid > 0 && f.len == 1)
			kill(-s->pid, f.data[0]);
		if (err)
			return err;
		talk_drop(&s->in, &f);
	}
	return err == -EAGAIN ? 0 : err;
}

/* --- what the command says --- */

/* True if something came. */
static bool take(struct session *s, int *fd, enum talk_type type)
{
	char buf[TALK_MAX];
	ssize_t n;

	if (*fd < 0 || !talk_has_room(&s->out))
		return false;
	n = read(*fd, buf, sizeof(buf));
	if (n > 0)
		talk_add(&s->out, type, buf, n);
	else if (!n || (errno != EAGAIN && errno != EINTR))
		close_fd(fd); /* a terminal that nobody has open says EIO */
	return n > 0;
}

static bool has_ended(struct session *s, int *status)
{
	int how;

	if (s->pid <= 0 || waitpid(s->pid, &how, WNOHANG) != s->pid)
		return false;
	s->pid = 0;
	*status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
	return true;
}

/* --- a session --- */

static void fill_poll(const struct session *s, struct pollfd p[5])
{
	bool room = talk_has_room(&s->out);

	/* What cannot be fed is not read. */
	p[0] = (struct pollfd){s->port, s->input_len ? 0 : POLLIN, 0};
	if (s->out.len)
		p[0].events |= POLLOUT;
	p[1] = (struct pollfd){room ? s->from : -1, POLLIN, 0};
	p[2] = (struct pollfd){room ? s->errors : -1, POLLIN, 0};
	p[3] = (struct pollfd){s->input_len ? s->to : -1, POLLOUT, 0};
	p[4] = (struct pollfd){s->pidfd, POLLIN, 0};
}

/* Sends what is left, its status last. */
static int finish(struct session *s, int status)
{
	const unsigned char byte = status;
	bool more = true, told = false;
	struct pollfd p;
	int err = 0;

	while (!err && (more || !told || s->out.len)) {
		more = take(s, &s->from, TALK_OUT);
		more = take(s, &s->errors, TALK_ERR) || more;
		if (!more && !told && talk_has_room(&s->out)) {
			talk_add(&s->out, TALK_EXIT, &byte, 1);
			told = true;
			close_fd(&s->from);
			close_fd(&s->errors);
		}
		err = talk_write(&s->out, s->port);
		p = (struct pollfd){s->port, POLLOUT, 0};
		if (!err && s->out.len && poll(&p, 1, -1) > 0 &&
		    (p.revents & POLLHUP))
			err = -EPIPE;
	}
	return err;
}

/* What is there on the port. */
static int hear(struct session *s, short events)
{
	long n;

	if (events & (POLLHUP | POLLERR))
		return -EPIPE;
	if (!(events & POLLIN))
		return 0;
	n = talk_read(&s->in, s->port);
	if (!n)
		return -EPIPE;
	return n < 0 && n != -EAGAIN ? (int)n : 0;
}

/* Until the command has ended or the client is gone. */
static int pump(struct session *s)
{
	struct pollfd p[5];
	/* The start may have come with the greeting. */
	int status, err = obey(s);

	while (!err) {
		fill_poll(s, p);
		if (poll(p, 5, -1) < 0)
			continue;
		err = hear(s, p[0].revents);
		feed(s);
		if (!err)
			err = obey(s);
		if (!err && has_ended(s, &status))
			return finish(s, status);
		take(s, &s->from, TALK_OUT);
		take(s, &s->errors, TALK_ERR);
		if (!err)
			err = talk_write(&s->out, s->port);
	}
	return err;
}

static void end_command(struct session *s)
{
	uint64_t end = clock_now_ns() + HANGUP_NS;
	int status;

	close_fd(&s->to);
	close_fd(&s->from);
	close_fd(&s->errors);
	if (s->pid > 0)
		kill(-s->pid, SIGHUP);
	while (s->pid > 0 && !has_ended(s, &status)) {
		if (clock_now_ns() > end)
			kill(-s->pid, SIGKILL);
		pause_ms(POLL_MS);
	}
	close_fd(&s->pidfd);
}

/* Waits for a client: a write to a port that nobody has open waits, a read does
 * not. What we write is skipped, being no greeting. */
static int wait_for_client(int port)
{
	ssize_t n;

	fcntl(port, F_SETFL, 0);
	n = write(port, "", 1);
	fcntl(port, F_SETFL, O_NONBLOCK);
	return n == 1 ? 0 : -errno;
}

/* The client's greeting, echoed. -EPIPE: it went away. */
static int greet(struct session *s)
{
	unsigned char greeting[TALK_GREETING];
	struct pollfd p = {s->port, POLLIN, 0};
	long n;

	talk_greeting(greeting, 0);
	while (!talk_find_greeting(&s->in, greeting, true)) {
		poll(&p, 1, -1);
		n = talk_read(&s->in, s->port);
		if (!n || (n < 0 && n != -EAGAIN))
			return n ? (int)n : -EPIPE;
	}
	talk_add_raw(&s->out, greeting, sizeof(greeting));
	return 0;
}

/* What of an earlier client has come stays: a new greeting may be in it. */
static void renew(struct session *s, int port)
{
	s->port = port;
	s->to = s->from = s->errors = s->pidfd = -1;
	s->pid = 0;
	s->input_at = s->input_len = s->out.at = s->out.len = 0;
}

static int serve(const char *device, struct session *s)
{
	int err, port = open(device, O_RDWR | O_CLOEXEC);

	if (port < 0)
		return -errno;
	for (;;) {
		err = wait_for_client(port);
		if (err)
			break;
		renew(s, port);
		if (!greet(s))
			pump(s);
		end_command(s);
	}
	close(port);
	return err;
}

/* --- ports --- */

static bool is_called(const char *path, const char *name)
{
	char *text;
	size_t len;
	bool is;

	if (file_read(path, 256, &text, &len, NULL))
		return false;
	text[strcspn(text, "\n")] = '\0';
	is = !strcmp(text, name);
	free(text);
	return is;
}

/* "/dev/vport1p5" of the port that is called @name. */
static int find_port(const char *name, char device[64], struct err *e)
{
	uint64_t end = clock_now_ns() + PORT_NS;
	bool found = false;
	char *slash;
	glob_t g;

	for (;;) {
		if (glob("/sys/class/virtio-ports/*/name", 0, NULL, &g))
			g.gl_pathc = 0;
		for (size_t i = 0; i < g.gl_pathc && !found; i++) {
			if (!is_called(g.gl_pathv[i], name))
				continue;
			slash = strrchr(g.gl_pathv[i], '/');
			*slash = '\0';
			snprintf(device, 64, "/dev/%s",
				 strrchr(g.gl_pathv[i], '/') + 1);
			found = true;
		}
		if (g.gl_pathc)
			globfree(&g);
		if (found)
			return 0;
		if (clock_now_ns() > end)
			return err_set(e, -ETIMEDOUT,
				       "there is no virtio port \"%s\" here",
				       name);
		pause_ms(POLL_MS);
	}
}

/* --- all of them --- */

static pid_t start_server(const char *device)
{
	struct session *s;
	pid_t pid = fork();

	if (pid)
		return pid;
	signal(SIGPIPE, SIG_IGN);
	s = calloc(1, sizeof(*s));
	_exit(s ? -serve(device, s) : ENOMEM);
}

int agent_run(const char *const *names, struct err *e)
{
	char device[PORTS_MAX][64];
	pid_t pid[PORTS_MAX], gone;
	size_t n;
	int err;

	for (n = 0; n < PORTS_MAX && names[n]; n++) {
		err = find_port(names[n], device[n], e);
		if (err)
			return err;
		pid[n] = start_server(device[n]);
	}
	while ((gone = wait(NULL)) > 0) {
		pause_ms(POLL_MS); /* were it to end at once, again and again */
		for (size_t i = 0; i < n; i++)
			if (pid[i] == gone)
				pid[i] = start_server(device[i]);
	}
	return err_set(e, -errno, "no shell is served: %s", strerror(errno));
}
