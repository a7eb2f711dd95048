#ifndef COMMANDS_LAB_FILES_H
#define COMMANDS_LAB_FILES_H

#include <stddef.h>

#include "base/err.h"
#include "vm/appliance.h"

/* Files of the host that a guest gets. */
enum { LAB_FILES_MAX = 512 };

struct lab_files {
	struct appliance_file list[LAB_FILES_MAX];
	char *names[LAB_FILES_MAX]; /* owned; what list[] borrows */
	size_t nr;
};

/* One that was asked for (--add). */
int lab_files_add(struct lab_files *f, const char *name, struct err *e);

/* What a command names and we have, but not its program: the guest has its own,
 * and lunbench is there as this very binary (argv[0] becomes "lunbench"). */
int lab_files_of_command(struct lab_files *f, char **argv, struct err *e);

/* The jobs that come with lunbench, where it looks for them. */
int lab_files_shipped(struct lab_files *f, struct err *e);

void lab_files_release(struct lab_files *f);

#endif
