#ifndef COMMANDS_BENCH_POOL_H
#define COMMANDS_BENCH_POOL_H

#include "commands/bench_set.h"

/*
 * Runs what is still waiting in a set, as many at a time as it asks for. A run
 * that fails does not keep the others from running, but Ctrl-C and a disk that
 * is full do; what is done by then stays. An exit status: STATUS_INTERRUPTED,
 * STATUS_TARGET if a run failed (if all did for the same reason, theirs).
 */
int bench_pool(struct bench_set *s);

#endif
