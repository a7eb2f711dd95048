#ifndef REPORT_CURVES_H
#define REPORT_CURVES_H

#include "report/put.h"
#include "report/set.h"
#include "report/sweep.h"

/*
 * The sweeps of a set, each a load curve: the rows of one job with several
 * numbers of clients, on one array, with all their ops together; repeats of a
 * step are pooled, in one file or in several. Where the job file has no sweep,
 * three or more rows with different numbers of clients make one, too.
 */

/* Of a step, the means of its repeats. */
struct load {
	double mb_s, iops, mean_ns, p99_ns;
	double fairness; /* Jain's index */
	double cpu_ns;	 /* of lunbench, an I/O */
	bool has_cpu;
	double littles_law; /* X * R / N; 0 where it was not measured */
};

struct curve {
	const struct point *point; /* the first; borrowed from the set */
	char label[256];	   /* array and job; printable */
	struct sweep sweep;	   /* of MB/s and ns; owned */
	struct load *loads;	   /* owned; as sweep.points */
};

struct curves {
	struct curve *list; /* owned */
	size_t nr;
};

/* @steps_only: none but what a job says is a sweep. */
int curves_of(struct curves *c, const struct set *s, bool steps_only,
	      struct err *e);
void curves_release(struct curves *c);

/* As in lunbench.sweeps[] (docs/result.schema.json), with the curve's label,
 * array and test where @of_set. */
void curves_put(struct put *p, json_t *sweeps, const struct curves *c,
		bool of_set);

/* "Knee at 20 clients (16 to 24 at 95 %): ...": what the curve says, in
 * sentences. */
char *curve_say(const struct curve *c, char *buf, size_t size);

#endif
