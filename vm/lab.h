#ifndef VM_LAB_H
#define VM_LAB_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "vm/appliance.h"
#include "vm/guest.h"

/*
 * The lab: a command in a QEMU guest that has md, device mapper and root, on
 * any machine where QEMU is installed. This is the room's front door.
 */

/* Until a guest's command starts; under TCG on a busy host it may take 20 s. */
#define LAB_BOOT_NS (120 * NS_PER_SEC)

enum lab_accel { LAB_AUTO, LAB_TCG, LAB_KVM };

struct lab_opts {
	enum lab_accel accel; /* LAB_AUTO: KVM where it is proven to run */
	unsigned int mips;    /* virtual time (see guest.h); 0: real time */
	unsigned int cpus;
	unsigned int memory_mib;
	const uint64_t *disks_bytes; /* sizes of scratch disks: /dev/vda, ... */
	size_t nr_disks;
	uint64_t deadline_ns;		    /* for the command */
	const struct appliance_file *files; /* to be there; in /work the ones
					       with a relative name */
	size_t nr_files;
	const char *const *command;
	const char *const *env; /* "NAME=value", NULL-terminated, or NULL */
	const char *out;	/* the command's /work comes back into this
				   folder */
	const volatile sig_atomic_t *stop;
	void (*on_output)(void *user, int fd, const char *data, size_t len);
	/* What takes time before the guest runs, in a sentence. */
	void (*on_note)(void *user, const char *note);
	void *user;
};

struct lab_result {
	int status;	   /* the command's */
	char accel[64];	   /* "tcg, Nehalem" */
	char kernel[128];  /* its release */
	size_t nr_files;   /* brought back */
	uint64_t build_ns; /* until the guest was started */
	uint64_t boot_ns, run_ns;
	char console[2048]; /* the guest's last lines, when it failed */
};

/* -ENOTSUP, -ENOENT if no lab can run on this host; the text says what to
 * install. */
int lab_check_host(struct err *e);

/* 0 if the command ended, whatever its status, and its files are in o->out.
 * Errors: those of guest_run(), and of what is needed before. */
int lab_exec(const struct lab_opts *o, struct lab_result *r, struct err *e);

struct lab_appliance {
	char image[PATH_MAX], kernel[128];
	unsigned long long hash;
	uint64_t bytes, took_ns;
	char note[512]; /* what was done; "" if all was there */
};

/* Makes all that a guest needs and is not there yet; asks apt for a newer
 * kernel. */
int lab_build(struct lab_appliance *a, struct err *e);

#endif
