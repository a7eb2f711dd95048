#ifndef COMMANDS_BENCH_H
#define COMMANDS_BENCH_H

#include "commands/array_watch.h"
#include "commands/request.h"
#include "target/tgt.h"

/*
 * What `lunbench bench` was asked for. Without an array, or with one array that
 * this host can make, it is a run on a target of its own: bench.c. All else is
 * a set of runs, each a lunbench of its own, here or in a lab guest:
 * bench_set.c.
 */

enum bench_where { WHERE_AUTO, WHERE_HOST, WHERE_LAB };

struct bench {
	struct request request;
	struct tgt_opts target; /* without array.kind: see arrays */
	struct array_steps steps;

	/* Of a set; texts are borrowed from argv. */
	const char *arrays; /* "raid0,raid5"; NULL: none */
	enum bench_where where;
	bool is_virtual;
	const char *mips;	      /* NULL: the lab's default */
	const char *memory, *timeout; /* of each guest */
	const char *resume;	      /* the folder of a set to go on with */
	uint64_t jobs, repeats;	      /* 0: not given */

	int argc;
	char **argv; /* borrowed; what was parsed */
};

/* "4x256M@hdd": of arrays for which no members are named. */
#define BENCH_MEMBERS "4x256M@hdd"

/* STATUS_OK, or another exit status after saying why. Release in both cases. */
int bench_parse(struct bench *b, int argc, char **argv);
void bench_release(struct bench *b);

#endif
