#include "vm/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "vm/qemu.h"

enum {
	/* A signal between the look at @stop and the poll waits this long. */
	WAIT_MSEC = 200,
	CONSOLE_MAX_BYTES = 4 << 20,
	CONSOLE_LINES = 12,
};

#define KILL_NS (10 * NS_PER_SEC)

struct guest {
	const struct guest_opts *o;
	struct guest_result *r;
	pid_t pid;
	uint64_t start_time; /* names the process, with its pid */
	int pidfd, notify;   /* owned */
	int out, err;	     /* owned; the command's output, being read */
	uint64_t begin_ns, started_ns;
};

static void path_of(const char *folder, const char *file, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", folder, file);
}

/* --- what it says --- */

/* Passes on what is new. */
static void drain(struct guest *g, const char *file, int *fd, int to)
{
	char buf[16384], path[PATH_MAX];
	ssize_t n;

	if (*fd < 0) {
		path_of(g->o->folder, file, path);
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	while (*fd >= 0 && (n = read(*fd, buf, sizeof(buf))) > 0)
		if (g->o->on_output)
			g->o->on_output(g->o->user, to, buf, n);
}

/* True if the guest has said "exit N"; also sees that it has started. */
static bool read_status(struct guest *g)
{
	char path[PATH_MAX], *text, *at;
	bool ended = false;
	size_t len;

	path_of(g->o->folder, "status", path);
	if (file_read(path, 4096, &text, &len, NULL))
		return false;
	if (!g->started_ns && strstr(text, "started\n"))
		g->started_ns = clock_now_ns();
	at = strstr(text, "exit ");
	if (at && strchr(at, '\n')) {
		g->r->status = atoi(at + strlen("exit "));
		ended = true;
	}
	free(text);
	return ended;
}

/* Without its carriage returns. */
void guest_console(const char *folder, char console[2048])
{
	char path[PATH_MAX], *text, *from, *to = console;
	char *end = console + 2047;
	size_t len;
	int lines = 0;

	*to = '\0';
	path_of(folder, "console", path);
	if (file_read(path, CONSOLE_MAX_BYTES, &text, &len, NULL))
		return;
	for (from = text + len; from > text; from--)
		if (from[-1] == '\n' && from < text + len &&
		    ++lines == CONSOLE_LINES)
			break;
	if (text + len - from > end - to)
		from = text + len - (end - to);
	for (; *from && to < end; from++)
		if (*from != '\r')
			*to++ = *from;
	*to = '\0';
	free(text);
}

/* What the kernel said of its end: 0 if nothing. */
static int say_panic(const char *folder, unsigned int memory_mib, struct err *e)
{
	char path[PATH_MAX], *text, *at;
	size_t len;
	int err = 0;

	path_of(folder, "console", path);
	if (file_read(path, CONSOLE_MAX_BYTES, &text, &len, NULL))
		return 0;
	at = strstr(text, "Kernel panic");
	if (strstr(text, "Initramfs unpacking failed") ||
	    strstr(text, "System is deadlocked on memory"))
		err = err_set(e, -ENOMEM,
			      "the guest's memory of %u MiB is too small: give "
			      "more with --memory",
			      memory_mib);
	else if (at)
		err = err_set(e, -EIO, "the guest has died: %.*s",
			      (int)strcspn(at, "\r\n"), at);
	free(text);
	return err;
}

int guest_say_death(const char *folder, unsigned int memory_mib,
		    char console[2048], struct err *e)
{
	char path[PATH_MAX], line[300], *text;
	size_t len;
	int err;

	guest_console(folder, console);
	err = say_panic(folder, memory_mib, e);
	if (err)
		return err;
	path_of(folder, "qemu.log", path);
	if (file_read(path, 1 << 20, &text, &len, NULL))
		return err_set(e, -EIO, "QEMU ended and said nothing");
	child_last_line(text, line, sizeof(line));
	free(text);
	if (!line[0])
		return err_set(e, -EIO,
			       "the guest powered off before its command "
			       "had ended");
	return err_set(e, -EIO, "QEMU failed: %s", line);
}

/* --- watching it --- */

static int watch_folder(struct guest *g, struct err *e)
{
	g->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (g->notify < 0 ||
	    inotify_add_watch(g->notify, g->o->folder, IN_MODIFY) < 0)
		return err_set(e, -errno, "cannot watch \"%s\": %s",
			       g->o->folder, strerror(errno));
	return 0;
}

/* Until something was written, QEMU ended, or a while has passed. True if
 * QEMU has ended. */
static bool wait_for_it(struct guest *g)
{
	struct pollfd p[2] = {{g->notify, POLLIN, 0}, {g->pidfd, POLLIN, 0}};
	char events[4096];

	poll(p, 2, WAIT_MSEC);
	while (read(g->notify, events, sizeof(events)) > 0)
		;
	return p[1].revents != 0;
}

static int check_time(const struct guest *g, struct err *e)
{
	uint64_t now = clock_now_ns();

	if (g->o->stop && *g->o->stop)
		return err_set(e, -EINTR, "interrupted; the guest was ended");
	if (!g->started_ns && now - g->begin_ns > g->o->boot_deadline_ns)
		return err_set(e, -ETIMEDOUT,
			       "the guest did not come up within %.0f s",
			       g->o->boot_deadline_ns / 1e9);
	if (g->started_ns && g->o->deadline_ns &&
	    now - g->started_ns > g->o->deadline_ns)
		return err_set(e, -ETIMEDOUT,
			       "the guest's command did not end within %.0f s: "
			       "give it longer with --timeout",
			       g->o->deadline_ns / 1e9);
	return 0;
}

/* From the start to the power off, or only until the command has @started. */
static int watch(struct guest *g, bool started, struct err *e)
{
	bool gone = false, ended;
	int err = 0;

	while (!err && !gone) {
		gone = wait_for_it(g);
		drain(g, "out", &g->out, 1);
		drain(g, "err", &g->err, 2);
		ended = read_status(g);
		/* It has said all that it had to say; no need to see it off. */
		if (ended || (started && g->started_ns))
			return 0;
		err = check_time(g, e);
	}
	if (err)
		return err;
	return guest_say_death(g->o->folder, g->o->memory_mib, g->r->console,
			       e);
}

static int power_on(struct guest *g, child_before_exec *before_exec, void *user,
		    struct err *e)
{
	struct qemu_command *c;
	char log[PATH_MAX];
	int err = qemu_command_new(&c, g->o, e);

	if (err)
		return err;
	path_of(g->o->folder, "qemu.log", log);
	g->begin_ns = clock_now_ns();
	err = child_start(qemu_command_argv(c), NULL, log, !before_exec,
			  before_exec, user, &g->pid, e);
	qemu_command_free(c);
	if (err == -ENOENT)
		return err_set(e, err,
			       "the lab needs QEMU: apt-get install "
			       "qemu-system-x86");
	if (err)
		return err;
	g->start_time = child_start_time(g->pid);
	g->pidfd = pidfd_open(g->pid, 0);
	if (g->pidfd < 0)
		return err_set(e, -errno, "cannot watch QEMU: %s",
			       strerror(errno));
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The command's files are made before QEMU is there, so that a watch and a
 * reader are in place for the first byte. */
static int make_files(const struct guest_opts *o, struct err *e)
{
	static const char *const name[] = {"console", "status", "out",
					   "err",     "result", "qemu.log"};
	char path[PATH_MAX];
	int fd;

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		path_of(o->folder, name[i], path);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0)
			return err_set(e, -errno, "cannot make \"%s\": %s",
				       path, strerror(errno));
		close(fd);
	}
	return 0;
}

static void begin(struct guest *g, const struct guest_opts *o,
		  struct guest_result *r)
{
	*g = (struct guest){.o = o,
			    .r = r,
			    .pid = -1,
			    .pidfd = -1,
			    .notify = -1,
			    .out = -1,
			    .err = -1};
	*r = (struct guest_result){0};
}

/* QEMU is ended unless it @stays. */
static int end(struct guest *g, bool stays, int err, struct err *e)
{
	int killed = 0;

	if (err)
		guest_console(g->o->folder, g->r->console);
	if (g->started_ns) {
		g->r->boot_ns = g->started_ns - g->begin_ns;
		g->r->run_ns = clock_now_ns() - g->started_ns;
	}
	if (g->pid > 0 && !(stays && !err))
		killed = child_kill(g->pid, g->start_time, KILL_NS,
				    err ? NULL : e);
	close_fd(&g->pidfd);
	close_fd(&g->notify);
	close_fd(&g->out);
	close_fd(&g->err);
	return err ? err : killed;
}

int guest_run(const struct guest_opts *o, struct guest_result *r, struct err *e)
{
	struct guest g;
	int err;

	begin(&g, o, r);
	err = make_files(o, e);
	if (!err)
		err = watch_folder(&g, e);
	if (!err)
		err = power_on(&g, NULL, NULL, e);
	if (!err)
		err = watch(&g, false, e);
	if (!err)
		path_of(o->folder, "result", r->result);
	return end(&g, false, err, e);
}

int guest_start(const struct guest_opts *o, child_before_exec *before_exec,
		void *user, pid_t *pid, struct guest_result *r, struct err *e)
{
	struct guest g;
	int err;

	begin(&g, o, r);
	err = make_files(o, e);
	if (!err)
		err = watch_folder(&g, e);
	if (!err)
		err = power_on(&g, before_exec, user, e);
	if (!err)
		err = watch(&g, true, e);
	*pid = g.pid;
	return end(&g, true, err, e);
}
