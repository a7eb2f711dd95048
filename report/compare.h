#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "report/reference.h"
#include "report/samples.h"

/*
 * Two result sets, or one beside published figures: per point and metric the
 * ratio with its interval and a verdict. Rules: docs/METHOD.md, "Compare".
 */

enum verdict {
	VERDICT_BETTER,
	VERDICT_WORSE,
	VERDICT_DIFFERENT,     /* of knees: neither is the better one */
	VERDICT_NO_DIFFERENCE, /* none shown: the interval holds 1 */
	VERDICT_NO_INTERVAL,   /* nothing tells how much it varies */
	VERDICT_MISSING,       /* no figure on one side: it failed, or never
				  ran */
	VERDICTS
};
extern const char *const verdict_names[VERDICTS];

struct compare_opts {
	unsigned int metrics; /* bits 1 << enum metric */
	double max_regress;   /* share, 0.05; negative: no gate */
	bool force;	      /* go on where plans differ */
	const char *protocol; /* of a reference */
};

struct comparison_item {
	char label[256]; /* printable */
	bool is_step;	 /* of a sweep */
	enum metric metric;
	struct sample_of a, b;
	bool has_a, has_b;
	double ratio;		  /* b / a; 0 where one is missing */
	struct interval interval; /* of the ratio, but NO_INTERVAL and MISSING
				   */
	enum verdict verdict;
	bool fails; /* the gate */
	/* Of a published table: its line, and the first of B's repeats. */
	const struct reference_line *line; /* borrowed, as @point; or NULL */
	const struct point *point;
};

/* Of a sweep that both sides have. */
struct comparison_curve {
	char label[256]; /* printable */
	struct comparison_knee {
		unsigned int clients, peak_clients;
		bool has_interval;
		unsigned int low, high;
		double peak_mb_s;
	} a, b;
	double ratio;		  /* of the peaks, b / a */
	struct interval interval; /* but VERDICT_NO_INTERVAL */
	enum verdict peak;
	/* Of the knees: VERDICT_NO_DIFFERENCE where the intervals overlap,
	 * VERDICT_NO_INTERVAL, or VERDICT_DIFFERENT. */
	enum verdict knee;
};

struct comparison {
	const char *a, *b;	       /* borrowed */
	struct comparison_item *items; /* owned */
	size_t nr_items;
	struct comparison_curve *curves; /* owned */
	size_t nr_curves;
	char **notes; /* owned; what a reader must know: --force, damaged
			 files, ends that were not complete */
	size_t nr_notes;
	double max_regress;
};

/* @b against the baseline @a. -EINVAL with the difference where plans differ
 * and not @force; -ENOENT where no point is in both. */
int compare_sets(struct comparison *c, const struct set *a, const struct set *b,
		 const struct compare_opts *o, struct err *e);

/* @b against a table of published MB/s. -ENOENT tells what was not matched. */
int compare_reference(struct comparison *c, const struct reference *r,
		      const struct set *b, const struct compare_opts *o,
		      struct err *e);
void comparison_release(struct comparison *c);

size_t comparison_failures(const struct comparison *c);
/* Latencies that no gate judges, for want of an interval. */
size_t comparison_unjudged(const struct comparison *c);

/* Steps of a sweep, of which there are many, are lines only where they tell
 * something; the others are counted. */
void compare_print(const struct comparison *c, FILE *out);
void compare_put_junit(const struct comparison *c, size_t nr, FILE *out);

#endif
