#ifndef REPORT_SWEEP_H
#define REPORT_SWEEP_H

#include "base/err.h"
#include "report/stats.h"

/*
 * What a load curve says: throughput and response time against the number of
 * clients. Pure: the same samples give the same answer, in whatever order they
 * come, and no answer holds a NaN. Rules: docs/METHOD.md, "Sweeps".
 *
 *   peak      the step with the highest mean throughput, the first of equals
 *   knee      the smallest load whose mean is within 5 % of the peak's
 *   interval  of the knee, where every step was measured twice at least: from
 *             the smallest load that is not shown to be below 95 % of the peak
 *             to the smallest that is shown not to be (the interval of the
 *             ratio of the means, stats_ratio())
 *   phases    rising up to the knee, flat as long as a step is within 5 % of
 *             the peak, then falling. A flat phase over which the clients grow
 *             by 10 % or less is none: there the throughput may still rise by
 *             half as much as they do. It is one where it lasts to the end and
 *             the peak came before that.
 */

#define SWEEP_BAND 0.05	      /* of the peak */
#define SWEEP_FLAT_LEAST 1.10 /* last over first number of clients */

/* The same in a sentence, for who reads a result. */
extern const char sweep_rule[];

/* One measurement of one step. */
struct sweep_sample {
	unsigned int clients;
	double rate; /* of all clients together, in any unit */
	double response_ns;
};

/* The half of the intervals here is 0 where there is no repeat. */
struct sweep_point {
	unsigned int clients;
	struct summary rate, response_ns;
};

enum sweep_phase_kind { SWEEP_RISING, SWEEP_FLAT, SWEEP_FALLING };
extern const char *const sweep_phase_names[];

struct sweep_phase {
	enum sweep_phase_kind kind;
	size_t first, last; /* points; two phases share theirs */
};

/* Of two means. */
struct sweep_ratio {
	double value;
	bool has_interval;
	struct interval interval;
};

struct sweep {
	struct sweep_point *points; /* owned; ascending, each load once */
	size_t nr_points;
	bool has_knee; /* two points at least, and a throughput above 0 */
	size_t peak, knee;
	bool has_interval;
	size_t knee_low, knee_high; /* points; with @has_interval */
	struct sweep_phase phases[3];
	size_t nr_phases;
	bool has_response_ratio;	   /* highest load over the first */
	struct sweep_ratio response_ratio; /* with that */
};

/* Samples without clients, or of no possible value (negative, infinite) are
 * left out. -ENOMEM. */
int sweep_analyze(struct sweep *s, const struct sweep_sample samples[],
		  size_t nr, struct err *e);
void sweep_release(struct sweep *s);

/* Throughput at the end of a phase over that at its start. */
struct sweep_ratio sweep_phase_ratio(const struct sweep *s,
				     const struct sweep_phase *p);

/* The throughput still rises where the load is highest: the knee may lie beyond
 * it. */
bool sweep_is_rising(const struct sweep *s);

#endif
