#ifndef COMMANDS_SIGNALS_H
#define COMMANDS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Ctrl-C and its like (SIGINT, SIGTERM, SIGHUP) are counted: the first asks a
 * run to stop and keep what it has, the second to stop without draining. Where
 * there is nothing to keep or to take down, they end the program at once.
 */

/* Counts from now on; ignores SIGPIPE. */
void signals_init(void);

/* While @at_once, the first signal ends the program (status 130). Set it around
 * waits that leave nothing behind, such as a first connect. */
void signals_end_at_once(bool at_once);

/* How many came so far; what run_opts.stop wants. */
extern volatile sig_atomic_t signals_seen;

#endif
