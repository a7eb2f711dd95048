#ifndef VM_SHELL_H
#define VM_SHELL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * The host's side of `lab shell`: a command, or a shell on a terminal, in a
 * guest that stays. Its ports are sockets of the lab's folder, which only their
 * owner can reach; each has one client at a time.
 */
enum { SHELL_PORTS = 4 };

struct shell_opts {
	const char *const *command; /* NULL: a login shell */
	const char *const *env;	    /* "NAME=value", NULL-terminated, or NULL */
	bool is_terminal;	    /* give it one; then @input is one, too, and
				       raw, and Ctrl-] ends the session */
	int input;		    /* borrowed; -1: none */
	uint64_t deadline_ns;	    /* for all of it; 0: none */
	/* A signal to pass on, and to take back to 0; a second one while the
	 * first has not ended the command ends the session. May be NULL. */
	volatile sig_atomic_t *signal;
	const volatile sig_atomic_t *stop; /* not 0: end it; may be NULL */
	/* Not 0: the terminal has a new size; taken back to 0. May be NULL. */
	volatile sig_atomic_t *is_resized;
	/* What it says; @fd is 1 or 2. */
	void (*on_output)(void *user, int fd, const char *data, size_t len);
	void *user;
};

/* Runs it in the guest of @folder. *status is the command's. -EBUSY: all ports
 * are in use; -ETIMEDOUT; -EINTR; -EPIPE: the guest, or the session, ended. */
int shell_run(const char *folder, const struct shell_opts *o, int *status,
	      struct err *e);

/* What it said. */
struct shell_answer {
	char *text; /* owned; standard output, up to 1 MiB; NULL: nothing */
	size_t len;
	char errors[4096]; /* standard error, as far as it fits */
	size_t errors_len;
};

/* The same for a command that is asked something: without input, and what it
 * says is kept in @a, zeroed before. Another status than 0 is -EIO (2: -EINVAL)
 * with the last line of its standard error; what it said is there all the same.
 */
int shell_ask(const char *folder, const struct shell_opts *o,
	      struct shell_answer *a, struct err *e);

#endif
