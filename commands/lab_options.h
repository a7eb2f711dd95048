#ifndef COMMANDS_LAB_OPTIONS_H
#define COMMANDS_LAB_OPTIONS_H

#include "vm/lab.h"

/* What every guest is asked for, alike: `lab exec` and `lab up`. */

enum lab_option {
	LAB_CPUS = 0x3100,
	LAB_MEMORY,
	LAB_VIRTUAL_TIME,
	LAB_DISKS,
	LAB_TIMEOUT,
	LAB_ACCEL,
};

enum { LAB_DISKS_MAX = 24 };

struct lab_options {
	struct lab_opts lab;
	uint64_t disks[LAB_DISKS_MAX];
	struct err error;
};

/* Rows for a table of argp options. */
#define LAB_OPTION_ROWS                                                        \
	{                                                                      \
		"cpus",                                                        \
		LAB_CPUS,                                                      \
		"N",                                                           \
		0,                                                             \
		"processors of the guest (this host's)",                       \
		0},                                                            \
		{"memory", LAB_MEMORY, "SIZE", 0, "its memory (1G)", 0},       \
		{"disks",                                                      \
		 LAB_DISKS,                                                    \
		 "NxSIZE",                                                     \
		 0,                                                            \
		 "scratch disks on this host's disk, /dev/vda and on",         \
		 0},                                                           \
	{                                                                      \
		"accel", LAB_ACCEL, "auto|kvm|tcg", 0,                         \
			"how it runs: auto takes KVM where a probe guest has " \
			"run under it",                                        \
			0                                                      \
	}

/* The defaults. @x must not move afterwards. */
void lab_options_init(struct lab_options *x);

/* Sets one of them; -ENOSYS if @key is none; else the text is in x->error. */
int lab_option_set(struct lab_options *x, int key, const char *text);

#endif
