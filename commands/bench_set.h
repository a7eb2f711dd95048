#ifndef COMMANDS_BENCH_SET_H
#define COMMANDS_BENCH_SET_H

#include <stdbool.h>

/*
 * `bench` over several arrays, or somewhere else than right here:
 *
 *	--array A,B,C  --where auto|host|lab  --virtual-time[=MIPS]  --jobs N
 *	--repeats N  --lab-memory SIZE  --lab-timeout TIME (of each guest)
 *
 * Each array's bench is a lunbench of its own, on this host or in a guest of
 * its own, with all the other options as given; its files go to
 * OUT/ARRAY (OUT/ARRAY-N with repeats). A table over the arrays ends it.
 */

/* True if the command line asks for any of that. */
bool bench_set_is_wanted(int argc, char **argv);

int bench_set(int argc, char **argv);

#endif
