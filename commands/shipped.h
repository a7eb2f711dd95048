#ifndef COMMANDS_SHIPPED_H
#define COMMANDS_SHIPPED_H

#include <stddef.h>

#include "base/err.h"

/* The job files that come with lunbench: workloads/ of the build tree that the
 * program was started from, or the installed ones. */

/* A JOB as given on a command line: a file of that path, or else the shipped
 * job of that name. -ENOENT names the shipped ones. */
int shipped_resolve(const char *job, char *path, size_t size, struct err *e);

/* The same of a table of published figures: workloads/reference/NAME.csv. */
int shipped_reference(const char *name, char *path, size_t size, struct err *e);

/* Their paths; none at all is no error. The caller frees paths and list. */
int shipped_list(char ***paths, size_t *nr, struct err *e);

#endif
