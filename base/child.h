#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Other programs. Always an argv array (no shell), LC_ALL=C, standard input
 * from /dev/null, every other descriptor closed in the child, and a deadline.
 * Secrets never go into argv: pass them in @env or through a file.
 */
struct child_result {
	int status;	/* exit status, or 128 + signal */
	bool timed_out; /* killed at the deadline */
	char *out;	/* owned; stdout, NUL-terminated; "" if none */
	char *err;	/* owned; stderr, NUL-terminated; "" if none */
};

/* Runs argv[0] (looked up in PATH, then /usr/sbin and /sbin) to its end.
 * @env: extra "NAME=value" strings, NULL-terminated, or NULL.
 * 0 if it ran, whatever its status; -ENOENT if there is no such program (the
 * text names it), -ETIMEDOUT if it was killed at the deadline (out and err hold
 * what came). */
int child_run(const char *const argv[], const char *const env[],
	      uint64_t deadline_ns, struct child_result *r, struct err *e);
void child_result_release(struct child_result *r);

/* Starts a daemon in a session of its own, output appended to @log_path.
 * Its pid in @pid. With @die_with_parent it gets SIGKILL when we die
 * (PR_SET_PDEATHSIG). */
int child_start(const char *const argv[], const char *const env[],
		const char *log_path, bool die_with_parent, pid_t *pid,
		struct err *e);

/* A process named for ever: a pid may be reused, its start time is not.
 * 0 when there is no such process. (/proc/PID/stat field 22) */
uint64_t child_start_time(pid_t pid);

/* True while @pid runs and is the process that started at @start_time. */
bool child_is_alive(pid_t pid, uint64_t start_time);

/* SIGKILL to exactly that process; waits until it is gone or @deadline_ns have
 * passed (-ETIMEDOUT). Reaps it if it is ours. 0 if it was gone already. */
int child_kill(pid_t pid, uint64_t start_time, uint64_t deadline_ns,
	       struct err *e);

/* True if a program of that name would be found by child_run(). */
bool child_has_program(const char *name);

#endif
