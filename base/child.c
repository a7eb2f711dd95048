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
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { OUTPUT_MAX = 16 << 20, LOOK_MS = 5 };

extern char **environ;

/* --- looking programs up --- */

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* 0 and the path in @out, or -ENOENT. */
static int find_program(const char *name, char out[PATH_MAX], struct err *e)
{
	const char *path = getenv("PATH"), *p, *end;
	char dirs[8192];

	if (strchr(name, '/')) {
		snprintf(out, PATH_MAX, "%s", name);
		if (is_program(out))
			return 0;
		return err_set(e, -ENOENT, "\"%s\" is not a program", name);
	}
	/* Daemons and their tools live in sbin, which users' PATHs lack. */
	snprintf(dirs, sizeof(dirs), "%s:/usr/sbin:/sbin",
		 path && *path ? path : "/usr/bin:/bin");
	for (p = dirs; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ':');
		if (end == p) /* POSIX: the current folder; not with us */
			continue;
		snprintf(out, PATH_MAX, "%.*s/%s", (int)(end - p), p, name);
		if (is_program(out))
			return 0;
	}
	return err_set(
		e, -ENOENT,
		"\"%s\" is not installed (not in PATH, /usr/sbin, /sbin)",
		name);
}

bool child_has_program(const char *name)
{
	char path[PATH_MAX];

	return !find_program(name, path, NULL);
}

/* --- the environment --- */

static bool same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return !strncmp(a, b, n) && b[n] == '=';
}

static bool is_secret(const char *var)
{
	size_t n = strcspn(var, "="), tail = strlen("PASSWORD");

	if (!strncmp(var, "LIBISCSI_CHAP_", strlen("LIBISCSI_CHAP_")))
		return true;
	return !strncmp(var, "LUNBENCH_", strlen("LUNBENCH_")) && n > tail &&
	       !strncmp(var + n - tail, "PASSWORD", tail);
}

static bool is_replaced(const char *var, const char *const env[])
{
	if (same_name(var, "LC_ALL="))
		return true;
	for (; env && *env; env++)
		if (same_name(*env, var))
			return true;
	return false;
}

/* An array to be freed, of borrowed strings; NULL without memory. */
static char **make_env(const char *const env[])
{
	size_t n = 2, i = 0;
	char **out;

	for (char **v = environ; v && *v; v++)
		n++;
	for (const char *const *v = env; v && *v; v++)
		n++;
	out = calloc(n, sizeof(*out));
	if (!out)
		return NULL;
	out[i++] = "LC_ALL=C";
	for (char **v = environ; v && *v; v++)
		if (!is_secret(*v) && !is_replaced(*v, env))
			out[i++] = *v;
	for (const char *const *v = env; v && *v; v++)
		out[i++] = (char *)*v;
	return out;
}

/* --- starting --- */

/* What the child needs between fork and exec: there it may call only what is
 * async-signal-safe, because another thread may have held a lock (malloc's,
 * stdio's) at the fork. */
struct launch {
	char path[PATH_MAX];
	char *const *argv;
	char **env; /* owned */
	int in, out, err;
	int gate;   /* the child's: run when a byte comes, not at its end */
	int report; /* the child's: errno of a failed start */
	bool is_daemon;
	bool die_with_parent;
	pid_t parent;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A pipe whose ends are over the standard ones, even if those are closed. */
static int high_pipe(int fd[2])
{
	int low[2];

	fd[0] = fd[1] = -1;
	if (pipe2(low, O_CLOEXEC))
		return -errno;
	for (int i = 0; i < 2; i++)
		fd[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 10);
	close(low[0]);
	close(low[1]);
	if (fd[0] >= 0 && fd[1] >= 0)
		return 0;
	close_fd(&fd[0]);
	close_fd(&fd[1]);
	return -EMFILE;
}

static int high_open(const char *path, int flags)
{
	int low = open(path, flags | O_CLOEXEC, 0600), fd;

	if (low < 0)
		return -errno;
	fd = fcntl(low, F_DUPFD_CLOEXEC, 10);
	close(low);
	return fd < 0 ? -EMFILE : fd;
}

static ssize_t read_retry(int fd, void *buf, size_t n)
{
	ssize_t got;

	do
		got = read(fd, buf, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static void default_signals(void)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		sigaction(s, &dfl, NULL); /* some cannot; so be it */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn)) run_child(const struct launch *l)
{
	char go;
	int code;

	default_signals();
	if (l->is_daemon)
		setsid();
	else
		setpgid(0, 0);
	if (l->die_with_parent) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != l->parent)
			_exit(127);
	}
	/* Standard ones last to first moves nothing over another: all are at
	 * 10 or more. */
	if (dup2(l->in, 0) < 0 || dup2(l->out, 1) < 0 || dup2(l->err, 2) < 0 ||
	    dup3(l->report, 3, O_CLOEXEC) < 0 ||
	    dup3(l->gate, 4, O_CLOEXEC) < 0)
		goto fail;
	closefrom(5);
	if (read_retry(4, &go, 1) != 1)
		_exit(127); /* the parent died or changed its mind */
	execve(l->path, l->argv, l->env);
fail:
	code = errno;
	/* The parent sees an early end of the pipe if even this fails. */
	if (write(3, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

static int prepare(struct launch *l, const char *const argv[],
		   const char *const env[], struct err *e)
{
	int err;

	*l = (struct launch){.in = -1, .out = -1, .err = -1};
	err = find_program(argv[0], l->path, e);
	if (err)
		return err;
	l->argv = (char *const *)argv;
	l->parent = getpid();
	l->env = make_env(env);
	if (!l->env)
		return err_set(e, -ENOMEM, "\"%s\": no memory to start it",
			       argv[0]);
	l->in = high_open("/dev/null", O_RDONLY);
	if (l->in < 0)
		return err_set(e, l->in, "cannot open \"/dev/null\": %s",
			       strerror(-l->in));
	return 0;
}

static void unprepare(struct launch *l)
{
	free(l->env);
	l->env = NULL;
	close_fd(&l->in);
	close_fd(&l->out);
	close_fd(&l->err);
}

/* Reaps a child of ours for sure; only after it was killed or has ended. */
static int reap(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

/* Forks, lets @before_exec see the pid, opens the gate, and waits for the exec.
 */
static int launch(struct launch *l, child_before_exec *before_exec, void *user,
		  pid_t *pid, struct err *e)
{
	int gate[2] = {-1, -1}, report[2] = {-1, -1}, code = 0, err;

	*pid = -1;
	err = high_pipe(gate);
	if (!err)
		err = high_pipe(report);
	if (err) {
		err_set(e, err, "\"%s\": no pipe to start it: %s", l->path,
			strerror(-err));
		goto out;
	}
	l->gate = gate[0];
	l->report = report[1];
	*pid = fork();
	if (*pid < 0) {
		err = err_set(e, -errno, "\"%s\": cannot fork: %s", l->path,
			      strerror(errno));
		goto out;
	}
	if (*pid == 0)
		run_child(l);
	if (!l->is_daemon)
		setpgid(*pid, *pid); /* both sides do it: no race */
	close_fd(&report[1]);
	if (before_exec)
		err = before_exec(user, *pid, child_start_time(*pid), e);
	if (err) {
		close_fd(&gate[1]); /* the child leaves by itself */
		reap(*pid);
		goto out;
	}
	/* We hold a reading end too, so this is no SIGPIPE even if the child
	 * was killed by now: then the report ends, and who waits sees it. */
	if (write(gate[1], "", 1) != 1)
		kill(*pid, SIGKILL);
	if (read_retry(report[0], &code, sizeof(code)) == sizeof(code)) {
		reap(*pid);
		err = err_set(e, -code, "cannot run \"%s\": %s", l->path,
			      strerror(code));
	}
out:
	close_fd(&gate[0]);
	close_fd(&gate[1]);
	close_fd(&report[0]);
	close_fd(&report[1]);
	return err;
}

int child_start(const char *const argv[], const char *const env[],
		const char *log_path, bool die_with_parent,
		child_before_exec *before_exec, void *user, pid_t *pid,
		struct err *e)
{
	struct launch l;
	int err = prepare(&l, argv, env, e);

	*pid = -1;
	if (err)
		goto out;
	l.is_daemon = true;
	l.die_with_parent = die_with_parent;
	l.out = high_open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW);
	if (l.out < 0) {
		err = err_set(e, l.out, "cannot open the log \"%s\": %s",
			      log_path, strerror(-l.out));
		goto out;
	}
	l.err = fcntl(l.out, F_DUPFD_CLOEXEC, 10);
	if (l.err < 0) {
		err = err_set(e, -errno, "cannot open the log \"%s\": %s",
			      log_path, strerror(errno));
		goto out;
	}
	err = launch(&l, before_exec, user, pid, e);
out:
	unprepare(&l);
	return err;
}

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
		err = high_pipe(fd);
		if (!err)
			err = capture_init(&c[i]);
		c[i].fd = fd[0];
		*to[i] = fd[1];
		if (err)
			return err_set(e, err, "\"%s\": no pipe for it: %s",
				       l->path, strerror(-err));
		fcntl(c[i].fd, F_SETFL, O_NONBLOCK);
	}
	err = launch(l, NULL, NULL, &pid, e);
	if (err)
		return err;
	close_fd(&l->out);
	close_fd(&l->err);
	err = watch(pid, c, end);
	/* Not yet reaped, so the group's number cannot be another's. */
	kill(-pid, SIGKILL);
	r->status = reap(pid);
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
	err = prepare(&l, argv, env, e);
	/* tgtadm, for one, loops for ever when its tgtd went with us. */
	l.die_with_parent = true;
	if (!err)
		err = run_captured(&l, c, deadline_ns, r, e);
	for (int i = 0; i < 2; i++)
		close_fd(&c[i].fd);
	r->out = c[0].text;
	r->err = c[1].text;
	unprepare(&l);
	return err;
}

void child_result_release(struct child_result *r)
{
	free(r->out);
	free(r->err);
	r->out = r->err = NULL;
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
