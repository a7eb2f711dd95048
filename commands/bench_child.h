#ifndef COMMANDS_BENCH_CHILD_H
#define COMMANDS_BENCH_CHILD_H

#include <stdbool.h>

#include "base/feed.h"
#include "commands/bench_set.h"
#include "commands/live_line.h"

/*
 * The lunbench of one run: `lunbench bench TEST --where host --array A`, right
 * here or through `lab exec` in a guest, with the words of the command line
 * that say how. Its result comes on its standard output and is kept in memory,
 * so that nothing of a run that was killed lies about; its standard error
 * tells how far it is, and why it failed.
 */
struct bench_child {
	struct bench_run *run; /* NULL: none */
	struct feed feed;
	char *doc; /* owned; the result so far */
	size_t len, room;
	bool has_no_memory;
	char line[1024]; /* of standard error, that has no end yet */
	size_t line_len;
	char said[512]; /* its last sentence */
	bool is_passed_on;
	char doing[64]; /* until there are figures: "starts" */
	bool has_figures;
	struct live_figures figures;
};

/* A sentence that a person should see while it runs. */
typedef void bench_note(void *user, const struct bench_run *r,
			const char *text);

int bench_child_start(struct bench_child *c, const struct bench_set *s,
		      struct bench_run *r, struct err *e);

/* Takes what it said. True when it has ended: *@status. */
bool bench_child_read(struct bench_child *c, bench_note *on_note, void *user,
		      int *status);

/* After its end. */
void bench_child_release(struct bench_child *c);

#endif
