#ifndef COMMANDS_LIVE_LINE_H
#define COMMANDS_LIVE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "initiator/run.h"

/*
 * What a person sees while a run runs, on stderr: on a terminal one live line;
 * elsewhere (a log, CI) a line every ten seconds. Events (a lost session, an
 * error) get a line of their own in both.
 */
struct live_line {
	bool is_tty;
	bool is_quiet;
	bool is_line_open; /* a live line stands without its newline */
	unsigned int width;
};

void live_line_init(struct live_line *l, bool is_quiet);

/* Sets how often the run reports, and to whom. */
void live_line_attach(struct live_line *l, struct run_opts *o);

/* What a line of a log tells, to whoever started that lunbench. */
struct live_figures {
	double fraction; /* 0..1 of the whole run; < 0: unknown */
	char rate[24];	 /* "812 MB/s"; "" while nothing is done */
};

/* False if @line is none of ours. */
bool live_line_parse(const char *line, struct live_figures *f);

/* Clears the live line. */
void live_line_end(struct live_line *l);

#endif
