#ifndef COMMANDS_BENCH_WHERE_H
#define COMMANDS_BENCH_WHERE_H

#include <stdbool.h>

#include "commands/bench.h"

/* Where arrays can be made. @arrays: "raid0,raid5"; @members as for target up,
 * "" for a plain image. Both return an exit status, after saying why it is not
 * STATUS_OK. */

/* Follows b->where; where that leaves a choice, says which and why. */
int bench_where_choose(const struct bench *b, const char *arrays,
		       const char *members, bool *in_lab);

/* For a place that was chosen before. */
int bench_where_check(bool in_lab, const char *arrays, const char *members);

#endif
