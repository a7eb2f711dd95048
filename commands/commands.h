#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

#include "base/err.h"

/*
 * The subcommands. main.c holds the table of them; each lives in its own file,
 * parses its own argv with argp and returns an exit status. argv[0] is
 * "lunbench NAME", so that argp's texts name the subcommand.
 */

enum exit_status {
	STATUS_OK = 0,
	STATUS_GATE = 1,   /* a gate or a check failed */
	STATUS_USAGE = 2,  /* the command line, a job file, a refusal: nothing
			      was measured */
	STATUS_TARGET = 3, /* the target or the I/O failed, or the result could
			      not be kept where it was wanted */
	STATUS_INTERRUPTED = 130, /* SIGINT, SIGTERM, SIGHUP; what was measured
				     is on disk */
};

int command_baseline(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_check(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_discover(int argc, char **argv);
int command_lab(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_report(int argc, char **argv);
int command_run(int argc, char **argv);
int command_selftest(int argc, char **argv);
int command_target(int argc, char **argv);
int command_workloads(int argc, char **argv);

/* "lunbench: sentence" on stderr. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says e->text and returns @status, so that a failure is
 * `return say_err(&e, STATUS_USAGE)`. */
int say_err(const struct err *e, int status);

#endif
