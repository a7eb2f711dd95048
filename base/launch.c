#include "base/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

int launch_pipe(int fd[2])
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
	if (l->death_signal) {
		prctl(PR_SET_PDEATHSIG, l->death_signal);
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

int launch_prepare(struct launch *l, const char *const argv[],
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

void launch_release(struct launch *l)
{
	free(l->env);
	l->env = NULL;
	close_fd(&l->in);
	close_fd(&l->out);
	close_fd(&l->err);
}

int launch_reap(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

int launch_start(struct launch *l, child_before_exec *before_exec, void *user,
		 pid_t *pid, struct err *e)
{
	int gate[2] = {-1, -1}, report[2] = {-1, -1}, code = 0, err;

	*pid = -1;
	err = launch_pipe(gate);
	if (!err)
		err = launch_pipe(report);
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
		launch_reap(*pid);
		goto out;
	}
	/* We hold a reading end too, so this is no SIGPIPE even if the child
	 * was killed by now: then the report ends, and who waits sees it. */
	if (write(gate[1], "", 1) != 1)
		kill(*pid, SIGKILL);
	if (read_retry(report[0], &code, sizeof(code)) == sizeof(code)) {
		launch_reap(*pid);
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
	int err = launch_prepare(&l, argv, env, e);

	*pid = -1;
	if (err)
		goto out;
	l.is_daemon = true;
	l.death_signal = die_with_parent ? SIGKILL : 0;
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
	err = launch_start(&l, before_exec, user, pid, e);
out:
	launch_release(&l);
	return err;
}
