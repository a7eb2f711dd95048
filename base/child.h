#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Other programs. Always an argv array (no shell), LC_ALL=C, standard input
 * from /dev/null, every other descriptor closed in the child, signals at their
 * defaults, and a deadline. Secrets never go into argv: pass them in @env or
 * through a file. Our own secrets (LIBISCSI_CHAP_*, LUNBENCH_*PASSWORD) are
 * taken out of the environment that a child inherits.
 *
 * Every @..._ns here is a duration. Any thread may call any of these.
 */
struct child_result {
	int status;	/* exit status, or 128 + signal */
	bool timed_out; /* killed at the deadline */
	char *out; /* owned; stdout, NUL-terminated; NULL if it never ran */
	char *err; /* owned; stderr, the same */
};

/* Runs argv[0] (looked up in PATH, then /usr/sbin and /sbin) to its end, in a
 * process group of its own; what is left of the group then is killed. If we
 * are killed meanwhile, so is the program.
 * @env: extra "NAME=value" strings, NULL-terminated, or NULL.
 * 0 if it ran, whatever its status; -ENOENT if there is no such program (the
 * text names it), -ETIMEDOUT if it was killed at the deadline (out and err hold
 * what came), -EFBIG if it was killed because it wrote more than 16 MiB. The
 * caller releases @r in every case. */
int child_run(const char *const argv[], const char *const env[],
	      uint64_t deadline_ns, struct child_result *r, struct err *e);
void child_result_release(struct child_result *r);

/* The same, where another status than 0 is a failure: -EIO with the program's
 * last words. @out: its stdout, which the caller frees; may be NULL. */
int child_check(const char *const argv[], const char *const env[],
		uint64_t deadline_ns, char **out, struct err *e);

/* The last line of @text (may be NULL) that is not blank, at most @size - 1
 * bytes of it, in
 * @line; "" if there is none. Where a program says why it failed. */
char *child_last_line(const char *text, char *line, size_t size);

/* Told of a daemon that is forked but has not yet run its program: the place
 * to write its pid down. Non-zero: it never runs, child_start() returns that.
 * If we are killed in here, it never runs either. */
typedef int child_before_exec(void *user, pid_t pid, uint64_t start_time,
			      struct err *e);

/* Starts a daemon in a session of its own, output appended to @log_path (made
 * with mode 0600). Its pid in @pid; it is our child: reap it with child_kill()
 * or child_wait(). With @die_with_parent it gets SIGKILL when the calling
 * thread ends (PR_SET_PDEATHSIG). @before_exec may be NULL. */
int child_start(const char *const argv[], const char *const env[],
		const char *log_path, bool die_with_parent,
		child_before_exec *before_exec, void *user, pid_t *pid,
		struct err *e);

/* A process named for ever: a pid may be reused, its start time is not.
 * 0 when there is no such process. (/proc/PID/stat field 22) */
uint64_t child_start_time(pid_t pid);

/* True while @pid runs (a zombie does not) and is the process that started at
 * @start_time. */
bool child_is_alive(pid_t pid, uint64_t start_time);

/* Waits at most @deadline_ns for the end of that process, ours or not, and
 * reaps it if it is ours. True if it is gone. */
bool child_wait(pid_t pid, uint64_t start_time, uint64_t deadline_ns);

/* SIGKILL to exactly that process; waits until it is gone or @deadline_ns have
 * passed (-ETIMEDOUT). Reaps it if it is ours. 0 if it was gone already. */
int child_kill(pid_t pid, uint64_t start_time, uint64_t deadline_ns,
	       struct err *e);

/* True if a program of that name would be found by child_run(). */
bool child_has_program(const char *name);

#endif
