#include "commands/passes.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "report/stats.h"
#include "report/steady.h"

/* I/Os a second in the row's window; 0 where it has none. */
static double rate_of(const struct row_result *r)
{
	uint64_t ios = 0;
	size_t op;

	if (r->window_end_ns <= r->window_start_ns)
		return 0;
	for (op = 0; op < OP_COUNT; op++)
		ios += r->meter.op[op].ios;
	return (double)ios * NS_PER_SEC /
	       (double)(r->window_end_ns - r->window_start_ns);
}

/* The same clone of the same job in the same step. */
static bool is_repeat_of(const struct plan *p, const struct plan_row *a,
			 const struct plan_row *b)
{
	const struct plan_client *ca = &p->clients[a->first_client];
	const struct plan_client *cb = &p->clients[b->first_client];

	return ca->job == cb->job && ca->clone == cb->clone &&
	       a->clients == b->clients;
}

static bool fulfils(const struct until *u, const double *x, size_t n)
{
	struct steady steady;
	struct summary s;

	if (u->kind == UNTIL_STEADY) {
		steady_check(&steady, x, n);
		return steady.is_steady;
	}
	stats_summarize(x, n, &s);
	return s.mean > 0 && isfinite(s.half) &&
	       100 * s.half / s.mean <= u->percent;
}

bool passes_fulfil(const struct plan *p, const struct run_result *r,
		   unsigned int pass)
{
	double *x = malloc((pass ? pass : 1) * sizeof(*x));
	bool all = x && pass >= p->min_passes;
	size_t first, i, n;

	for (first = 0; all && first < p->nr_rows; first++) {
		const struct plan_row *row = &p->rows[first];

		if (row->repeat > 1 ||
		    p->clients[row->first_client].opts->repeats_together)
			continue;
		n = 0;
		for (i = first; i < p->nr_rows && n < pass; i++)
			if (p->groups[p->rows[i].group].pass <= pass &&
			    is_repeat_of(p, row, &p->rows[i]))
				x[n++] = rate_of(&r->rows[i]);
		/* A job that is measured once has nothing to wait for. */
		if (n > 1)
			all = fulfils(&p->until, x, n);
	}
	free(x);
	return all;
}

bool passes_are_enough(void *user, const struct run_result *r,
		       unsigned int pass)
{
	return passes_fulfil(user, r, pass);
}
