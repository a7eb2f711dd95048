#ifndef VM_GUEST_H
#define VM_GUEST_H

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/child.h"
#include "base/err.h"
#include "vm/net.h"

/*
 * One guest, from power on to power off. What it says lands in files of a
 * folder of its own (QEMU's "file" character devices): a file never blocks its
 * writer, so how fast we read cannot show in the guest's time, and what a dead
 * guest said last is still there.
 *
 *	console   the kernel's messages       out, err   the command's own
 *	status    see vm/init                 result     what it left behind
 *	qemu.log  QEMU's own words
 *
 * QEMU dies with us, also by a kill -9 (PR_SET_PDEATHSIG); but the one of
 * guest_start() is a daemon.
 */

enum guest_accel { GUEST_TCG, GUEST_KVM };

struct guest_opts {
	const char *folder; /* borrowed */
	const char *kernel, *initrd;
	enum guest_accel accel;
	unsigned int mips; /* virtual time: what the guest's processor does in a
			      second; 0: real time. See guest_mips_shift() */
	unsigned int cpus;
	unsigned int memory_mib;
	const char *const *disks; /* raw images or devices; NULL-terminated */

	/* Of a guest that stays. */
	const struct net *net;	/* its network card; NULL: none */
	unsigned int nr_shells; /* ports "shell0" ..., each a socket of that
				   name in the folder; see shell.h */

	uint64_t boot_deadline_ns;	   /* until the command starts */
	uint64_t deadline_ns;		   /* from there to its end; 0: none */
	const volatile sig_atomic_t *stop; /* not 0: end it; may be NULL */

	/* What the command says, as it says it: @fd is 1 or 2. May be NULL. */
	void (*on_output)(void *user, int fd, const char *data, size_t len);
	void *user;
};

struct guest_result {
	int status; /* the command's */
	uint64_t boot_ns, run_ns;
	char result[PATH_MAX]; /* the archive; empty if there is none */
	char console[2048];    /* the last lines, when it failed */
};

/* -1 if the model cannot do @mips: 1000, 500, 250, 125, 62, ... are those it
 * can (QEMU's -icount shift: 2^shift ns an instruction). */
int guest_mips_shift(unsigned int mips);

/* "Nehalem": what the guest's processor is called. */
const char *guest_cpu_model(enum guest_accel accel);

/* 0 when the command ended, whatever its status. -ETIMEDOUT: it did not come
 * up, or did not end, in time; -EINTR: stopped; -EIO: panic, or QEMU ended;
 * @r->console then has the guest's last lines. Nothing is left running. */
int guest_run(const struct guest_opts *o, struct guest_result *r,
	      struct err *e);

/* Starts a guest that stays, and waits until its command runs. @before_exec is
 * told of QEMU's pid before QEMU is there (child.h). Errors as above; then
 * there is no QEMU. */
int guest_start(const struct guest_opts *o, child_before_exec *before_exec,
		void *user, pid_t *pid, struct guest_result *r, struct err *e);

/* Why the guest that ran in @folder is gone, in @e, and its console's last
 * lines. Returns e's code. */
int guest_say_death(const char *folder, unsigned int memory_mib,
		    char console[2048], struct err *e);

/* The console's last lines. */
void guest_console(const char *folder, char console[2048]);

#endif
