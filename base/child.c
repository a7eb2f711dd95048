#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/launch.h"

enum { OUTPUT_MAX = 16 << 20, LOOK_MS = 5 };

/* --- running to the end --- */

struct capture {
	int fd;
	char *text; /* owned */
	size_t len, room;
};

static int capture_init(struct capture *c)
{
	c->room = 4096;
	c->text = calloc(1, c->room);
	return c->text ? 0 : -ENOMEM;
}

/* Takes what is there. 0, or -EFBIG, -ENOMEM. Closes at the end of file. */
static int capture_read(struct capture *c)
{
	ssize_t n;
	char *more;

	while (c->fd >= 0) {
		if (c->len + 1 == c->room) {
			if (c->room >= OUTPUT_MAX)
				return -EFBIG;
			more = realloc(c->text, c->room * 2);
			if (!more)
				return -ENOMEM;
			c->text = more;
			c->room *= 2;
		}
		n = read_retry(c->fd, c->text + c->len, c->room - c->len - 1);
		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0) {
			close_fd(&c->fd);
			break;
		}
		c->len += n;
		c->text[c->len] = '\0';
	}
	return 0;
}

/* What is left until @end, for poll(): rounded up, so that it never spins. */
static int poll_ms(uint64_t end)
{
	uint64_t now = clock_now_ns();

	if (now >= end)
		return 0;
	if (end - now > INT_MAX / 2 * NS_PER_MSEC)
		return INT_MAX / 2;
	return (int)((end - now + NS_PER_MSEC - 1) / NS_PER_MSEC);
}

static uint64_t end_of(uint64_t duration_ns)
{
	uint64_t now = clock_now_ns();

	return duration_ns > UINT64_MAX - now ? UINT64_MAX : now + duration_ns;
}

/* A descriptor that tells the end of @pid, or -1: valgrind and the filters of
 * some containers do not know pidfd_open. Then we look every LOOK_MS. */
static int open_pidfd(pid_t pid)
{
	return pidfd_open(pid, 0);
}

static int wait_ms(int pidfd, uint64_t end)
{
	int ms = poll_ms(end);

	return pidfd < 0 && ms > LOOK_MS ? LOOK_MS : ms;
}

/* After a poll: has it ended? */
static bool has_ended(const struct pollfd *p, pid_t pid, uint64_t start_time)
{
	return p->fd >= 0 ? p->revents != 0 : !child_is_alive(pid, start_time);
}

/* Until the child has ended. Not until its pipes are closed: a daemon that it
 * left behind may hold them for ever. 0, -ETIMEDOUT, -EFBIG, ... */
static int watch(pid_t pid, struct capture c[2], uint64_t end)
{
	uint64_t start_time = child_start_time(pid);
	int pidfd = open_pidfd(pid), err = 0;
	struct pollfd p[3];
	bool ended = false;

	while (!err && !ended) {
		if (clock_now_ns() >= end) {
			err = -ETIMEDOUT;
			break;
		}
		for (int i = 0; i < 2; i++)
			p[i] = (struct pollfd){c[i].fd, POLLIN, 0};
		p[2] = (struct pollfd){pidfd, POLLIN, 0};
		if (poll(p, 3, wait_ms(pidfd, end)) < 0) {
			err = errno == EINTR ? 0 : -errno;
			continue;
		}
		/* Before the last read: so nothing that it wrote is missed. */
		ended = has_ended(&p[2], pid, start_time);
		err = capture_read(&c[0]);
		if (!err)
			err = capture_read(&c[1]);
	}
	close_fd(&pidfd);
	return err;
}

static int say_why(int err, const char *name, uint64_t deadline_ns,
		   struct err *e)
{
	switch (err) {
	case 0:
		return 0;
	case -ETIMEDOUT:
		return err_set(e, err, "\"%s\" did not end within %.3g s", name,
			       deadline_ns / 1e9);
	case -EFBIG:
		return err_set(e, err, "\"%s\" wrote more than %d MiB", name,
			       OUTPUT_MAX >> 20);
	default:
		return err_set(e, err, "\"%s\": cannot watch it: %s", name,
			       strerror(-err));
	}
}

/* Pipes to @c, started, watched, killed if need be, reaped. */
static int run_captured(struct launch *l, struct capture c[2],
			uint64_t deadline_ns, struct child_result *r,
			struct err *e)
{
	uint64_t end = end_of(deadline_ns);
	int *const to[2] = {&l->out, &l->err};
	int fd[2], err = 0;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		err = launch_pipe(fd);
		if (!err)
			err = capture_init(&c[i]);
		c[i].fd = fd[0];
		*to[i] = fd[1];
		if (err)
			return err_set(e, err, "\"%s\": no pipe for it: %s",
				       l->path, strerror(-err));
		fcntl(c[i].fd, F_SETFL, O_NONBLOCK);
	}
	err = launch_start(l, NULL, NULL, &pid, e);
	if (err)
		return err;
	close_fd(&l->out);
	close_fd(&l->err);
	err = watch(pid, c, end);
	/* Not yet reaped, so the group's number cannot be another's. */
	kill(-pid, SIGKILL);
	r->status = launch_reap(pid);
	r->timed_out = err == -ETIMEDOUT;
	return say_why(err, l->argv[0], deadline_ns, e);
}

int child_run(const char *const argv[], const char *const env[],
	      uint64_t deadline_ns, struct child_result *r, struct err *e)
{
	struct capture c[2] = {{.fd = -1}, {.fd = -1}};
	struct launch l;
	int err;

	*r = (struct child_result){0};
	err = launch_prepare(&l, argv, env, e);
	/* tgtadm, for one, loops for ever when its tgtd went with us. */
	l.death_signal = SIGKILL;
	if (!err)
		err = run_captured(&l, c, deadline_ns, r, e);
	for (int i = 0; i < 2; i++)
		close_fd(&c[i].fd);
	r->out = c[0].text;
	r->err = c[1].text;
	launch_release(&l);
	return err;
}

void child_result_release(struct child_result *r)
{
	free(r->out);
	free(r->err);
	r->out = r->err = NULL;
}

int child_check(const char *const argv[], const char *const env[],
		uint64_t deadline_ns, char **out, struct err *e)
{
	struct child_result r;
	char line[300];
	int err = child_run(argv, env, deadline_ns, &r, e);

	if (!err && r.status) {
		child_last_line(r.err, line, sizeof(line));
		if (!line[0])
			child_last_line(r.out, line, sizeof(line));
		err = err_set(e, -EIO, "\"%s\" failed (status %d): %s", argv[0],
			      r.status, line);
	}
	if (!err && out) {
		*out = r.out;
		r.out = NULL;
	}
	child_result_release(&r);
	return err;
}

char *child_last_line(const char *text, char *line, size_t size)
{
	const char *end, *start;

	text = text ? text : "";
	end = text + strlen(text);
	while (end > text && strchr(" \t\r\n", end[-1]))
		end--;
	for (start = end; start > text && start[-1] != '\n'; start--)
		;
	snprintf(line, size, "%.*s", (int)(end - start), start);
	return line;
}

/* --- processes by pid and start time --- */

/* Field 22 of /proc/PID/stat and the state, field 3. The name, field 2, may
 * hold spaces and parentheses: count from the last one. */
static uint64_t read_stat(pid_t pid, char *state)
{
	char path[32], text[1024];
	unsigned long long start = 0;
	ssize_t n;
	char *p;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read_retry(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strrchr(text, ')');
	if (!p || sscanf(p,
			 ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
			 "%*u %*d %*d %*d %*d %*d %*d %llu",
			 state, &start) != 2)
		return 0;
	return start;
}

uint64_t child_start_time(pid_t pid)
{
	char state;

	return pid > 0 ? read_stat(pid, &state) : 0;
}

bool child_is_alive(pid_t pid, uint64_t start_time)
{
	char state;

	return pid > 0 && start_time && read_stat(pid, &state) == start_time &&
	       state != 'Z' && state != 'X';
}

/* False if that process is gone. Else *pidfd means it, or is -1 (see
 * open_pidfd()). The start time is read after the open: from then on, what the
 * descriptor means cannot change. */
static bool open_process(pid_t pid, uint64_t start_time, int *pidfd)
{
	*pidfd = pid > 0 ? open_pidfd(pid) : -1;
	if (pid > 0 && start_time && child_start_time(pid) == start_time)
		return true;
	close_fd(pidfd);
	return false;
}

static bool wait_process(int pidfd, pid_t pid, uint64_t start_time,
			 uint64_t deadline_ns)
{
	struct pollfd p = {pidfd, POLLIN, 0};
	uint64_t end = end_of(deadline_ns);
	bool ended;

	do {
		if (poll(&p, 1, wait_ms(pidfd, end)) < 0)
			p.revents = 0;
		ended = has_ended(&p, pid, start_time);
	} while (!ended && clock_now_ns() < end);
	if (ended)
		waitpid(pid, NULL, WNOHANG); /* ECHILD when it is not ours */
	return ended;
}

bool child_wait(pid_t pid, uint64_t start_time, uint64_t deadline_ns)
{
	bool gone;
	int fd;

	if (!open_process(pid, start_time, &fd))
		return true;
	gone = wait_process(fd, pid, start_time, deadline_ns);
	close_fd(&fd);
	return gone;
}

static int send_kill(int pidfd, pid_t pid)
{
	return pidfd >= 0 ? pidfd_send_signal(pidfd, SIGKILL, NULL, 0)
			  : kill(pid, SIGKILL);
}

int child_kill(pid_t pid, uint64_t start_time, uint64_t deadline_ns,
	       struct err *e)
{
	int fd, err = 0;

	if (!open_process(pid, start_time, &fd))
		return 0;
	if (send_kill(fd, pid) && errno != ESRCH)
		err = err_set(e, -errno, "cannot kill process %d: %s", (int)pid,
			      strerror(errno));
	else if (!wait_process(fd, pid, start_time, deadline_ns))
		err = err_set(e, -ETIMEDOUT,
			      "process %d is still there %.3g s after SIGKILL",
			      (int)pid, deadline_ns / 1e9);
	close_fd(&fd);
	return err;
}
