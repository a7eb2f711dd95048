#ifndef BASE_LAUNCH_H
#define BASE_LAUNCH_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/child.h"

/* The first half of child.h, for its second half: a program from its name to
 * the moment that it runs. */

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
	int death_signal; /* that we get when our parent ends; 0: none */
	pid_t parent;
};

/* Finds the program and makes its environment; -ENOENT names it. The caller
 * sets out and err, and releases @l in every case. */
int launch_prepare(struct launch *l, const char *const argv[],
		   const char *const env[], struct err *e);
void launch_release(struct launch *l);

/* Forks, lets @before_exec see the pid, opens the gate, and waits for the exec.
 * On failure there is no child. */
int launch_start(struct launch *l, child_before_exec *before_exec, void *user,
		 pid_t *pid, struct err *e);

/* The status of a child of ours, which was killed or has ended. */
int launch_reap(pid_t pid);

/* A pipe whose ends are over the standard ones, even if those are closed. */
int launch_pipe(int fd[2]);

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline ssize_t read_retry(int fd, void *buf, size_t n)
{
	ssize_t got;

	do
		got = read(fd, buf, n);
	while (got < 0 && errno == EINTR);
	return got;
}

#endif
