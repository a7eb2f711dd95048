#ifndef COMMANDS_PROGRESS_H
#define COMMANDS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "initiator/run.h"

/*
 * What a person sees while a run runs, on stderr: on a terminal one live line;
 * elsewhere (a log, CI) a line every ten seconds. Events (a lost session, an
 * error) get a line of their own in both.
 */
struct progress {
	bool is_tty;
	bool is_quiet;
	bool is_line_open; /* a live line stands without its newline */
	unsigned int width;
};

void progress_init(struct progress *p, bool is_quiet);

/* Sets how often the run reports, and to whom. */
void progress_attach(struct progress *p, struct run_opts *o);

/* Clears the live line. */
void progress_end(struct progress *p);

#endif
