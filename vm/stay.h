#ifndef VM_STAY_H
#define VM_STAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "vm/lab.h"
#include "vm/net.h"
#include "vm/shell.h"

/*
 * A guest that stays: a daemon that survives the lunbench and the shell that
 * started it, in real time, reached by its network card and by its shells. What
 * runs in it is its user's: stay_up() takes a command that makes it what it is
 * for, and gives back what that said.
 *
 * Each has a folder, ROOT/.lab/NAME (base/state.h), with a journal: "qemu PID
 * START" before QEMU is there, "up WHAT" when all is. Its tap and its port go
 * with QEMU; its kernel, root and disks are unlinked as soon as QEMU has them.
 * So a kill -9 of anything at any step leaves at most QEMU, the folder and a
 * dead scratch folder, and stay_down() removes them.
 */
struct stay_opts {
	const char *name;
	struct lab_opts lab; /* its deadline_ns is that of the whole start; out,
				command and on_output are not looked at */
	enum net_kind net;
	uint16_t port; /* of 127.0.0.1; 0: a free one */

	/* Run in the guest when its net is up; may be NULL, as may be what it
	 * returns. What it returns lives until the next call. */
	const char *const *(*command)(void *user, const struct net *n);
	const char *const *secrets; /* its environment's, NULL-terminated */
	/* The words for "up WHAT" from what the command said on its standard
	 * output. 0, or -errno: then all is taken down. */
	int (*on_up)(void *user, const struct net *n, const char *said,
		     char what[512], struct err *e);
	void *user; /* for command and on_up; lab.user is for lab.on_note */
};

struct stay_status {
	char name[64];
	char folder[512];
	bool is_running;    /* whole, and QEMU is alive */
	char problem[512];  /* "" or what is wrong */
	char console[2048]; /* the last lines, where there is a problem */
	char up[512];	    /* what on_up() said */
	pid_t pid;
	char accel[64]; /* "tcg, Nehalem" */
	char kernel[128];
	unsigned int cpus, memory_mib;
	struct net net;
};

/* -EEXIST: it is up. On failure nothing is left, and @console has the guest's
 * last lines if there was one. What was cleaned up first is a note. */
int stay_up(const struct stay_opts *o, struct stay_status *s,
	    char console[2048], struct err *e);

/* @last: run in the guest before it is powered off; may be NULL. Whatever comes
 * of it, QEMU is ended and all is removed. -ENOENT: no such lab. */
int stay_down(const char *name, const char *const *last, struct err *e);

int stay_status(const char *name, struct stay_status *s, struct err *e);

/* Names of all that have a folder. The caller frees names and list. */
int stay_list(char ***names, size_t *nr, struct err *e);

/* A command's standard output, at most 1 MiB, in *out, which the caller frees
 * in any case. -EIO with the last line of its standard error where its status
 * is not 0. */
int stay_ask(const struct stay_status *s, const char *const *command,
	     const char *const *env, uint64_t deadline_ns, char **out,
	     struct err *e);

#endif
