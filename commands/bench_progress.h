#ifndef COMMANDS_BENCH_PROGRESS_H
#define COMMANDS_BENCH_PROGRESS_H

#include "commands/bench_child.h"

/*
 * How far a set is, on stderr: on a terminal one live line, elsewhere (a log,
 * CI) a line twice a minute. Time left comes from the real time that what is
 * done has taken, by the time that each job is expected to take.
 */
struct bench_progress {
	const struct bench_set *set;	    /* borrowed */
	const struct bench_child *children; /* borrowed; @nr of them */
	size_t nr;
	bool is_tty, is_quiet, is_line_open;
	unsigned int width;
	uint64_t interval_ns, begin_ns, shown_ns;
	double kept_s; /* expected time of what was done before */
};

void bench_progress_init(struct bench_progress *p, const struct bench_set *s,
			 const struct bench_child *children, size_t nr);

/* Shows it, if it is time to. */
void bench_progress_show(struct bench_progress *p);

/* Clears the live line: something else is going to be said. */
void bench_progress_clear(struct bench_progress *p);

/* "3 of 12 done, about 2 min 10 s left". */
char *bench_progress_text(const struct bench_progress *p, char *buf,
			  size_t size);

#endif
