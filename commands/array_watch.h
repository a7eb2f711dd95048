#ifndef COMMANDS_ARRAY_WATCH_H
#define COMMANDS_ARRAY_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/run.h"
#include "target/md_watch.h"
#include "target/tgt.h"

/*
 * The array below a bundled target while a job runs on it: what md does with it
 * becomes events of the result; and what was asked for beforehand (bench
 * --fail, --replace) is done at its time.
 */

enum { ARRAY_STEPS_MAX = 32 };

struct array_step {
	uint64_t at_ns; /* since the first group's clock started */
	bool is_replace;
	char member[128];
};

struct array_steps { /* in the order of their times */
	struct array_step step[ARRAY_STEPS_MAX];
	size_t nr;
};

/* @text: TIME:MEMBER, as in "10s:2". */
int array_steps_add(struct array_steps *s, bool is_replace, const char *text,
		    struct err *e);

/* What can be told before the target is up: are there such members, and may
 * they fail? */
int array_steps_check(const struct array_steps *s, const struct array_opts *o,
		      struct err *e);

struct array_watch {
	const char *target;		 /* borrowed */
	const struct array_steps *steps; /* borrowed; NULL: none */
	size_t nr_done;
	uint64_t interval_ns, look_ns; /* looks at least so often; the next */
	struct md_watch md;
	struct err failed; /* the first step that could not be done */
};

/* Nothing where the target has no md, or has it elsewhere (in a lab's guest:
 * its members are not known). @o's interval is how often to look
 * without md's word. */
void array_watch_attach(struct array_watch *w, const struct tgt_status *target,
			const struct array_steps *steps, struct run_opts *o);

/* After the run. False, with a sentence, if a step was not done: it failed, or
 * the run ended before it. */
bool array_watch_end(struct array_watch *w, struct err *e);

#endif
