#ifndef REPORT_ROW_H
#define REPORT_ROW_H

#include "report/put.h"
#include "report/result.h"

/*
 * One row of the plan beside what was measured of it, and the figures that the
 * document and the checks both derive from the two. Borrows from the input.
 */
struct row {
	const struct result_input *in;
	size_t index;
	const struct plan_row *plan;
	const struct row_result *result; /* all zero where it never ran */
	const struct job_opts *job;	 /* the row's first */
	bool has_run;
	bool is_cut_short;    /* the run ended, by Ctrl-C or failing, in it */
	bool is_open;	      /* some client follows a rate */
	bool mixes_depths;    /* clients of several iodepths */
	size_t nr_clients;    /* as planned */
	uint64_t total_depth; /* over all its clients */
	uint64_t window_ns;   /* 0 when nothing was counted */
	uint64_t ios;	      /* counted, all ops */
	uint64_t all_ios;     /* ramp, drain and failed ones too */
	uint64_t errors;      /* ramp and drain included */
	uint64_t retries;
	uint64_t disconnects, outage_ns;
};

void row_init(struct row *r, const struct result_input *in, size_t index);

/* The number of rows of the document: the plan's. */
static inline size_t row_count(const struct result_input *in)
{
	return in->plan->nr_rows;
}

/* What was busy beside it; NULL where nothing is known. */
static inline const struct beside *row_beside(const struct row *r)
{
	return r->in->beside && r->index < r->in->run->nr_rows
		       ? &r->in->beside[r->index]
		       : NULL;
}

/* Per second of the window; 0 where there is none. */
double row_per_second(const struct row *r, uint64_t amount);

/* Mean service time over all ops, ns. */
double row_mean_service_ns(const struct row *r);

/* N = X * R: mean I/O outstanding as integrated, beside throughput times mean
 * service time. */
struct littles_law {
	double n_measured, x_hz, r_ns, product;
	double ratio; /* product / n_measured */
};
/* False where nothing was measured. */
bool row_littles_law(const struct row *r, struct littles_law *l);

/* Jain's index over the clients of each job in the row; the lowest of them
 * (clients of unlike jobs owe each other nothing). 1 for single clients. */
double row_fairness(const struct row *r);

/* The earliest; of those with @result unless that is 0. NULL without. */
const struct error_sample *row_first_error(const struct row *r, int result);

/* The intervals of the series that lie wholly inside the window. */
struct intervals {
	size_t first, end;
};
struct intervals row_intervals(const struct row *r);

/* lunbench.rows[]: everything that fio's schema has no place for. */
void row_put(struct put *p, json_t *rows, const struct row *r);

#endif
