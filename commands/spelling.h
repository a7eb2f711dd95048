#ifndef COMMANDS_SPELLING_H
#define COMMANDS_SPELLING_H

#include <argp.h>
#include <stdbool.h>

/*
 * Names of options, before argp sees them: getopt says only that an option is
 * unknown, and takes any unambiguous beginning of a name, which would let a
 * script break when an option is added.
 */

/* The option of that long name in the tables of @children (ended by a NULL
 * argp), or NULL. */
const struct argp_option *spelling_find(const struct argp_child *children,
					const char *name);

/* True if every option in argv is one of theirs (or --help, --usage) and has a
 * value where it takes one; else says which is not, with the nearest name. */
bool spelling_check(const struct argp_child *children, int argc, char **argv);

#endif
