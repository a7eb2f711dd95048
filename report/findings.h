#ifndef REPORT_FINDINGS_H
#define REPORT_FINDINGS_H

#include "report/row.h"

/*
 * What the checks found, on its way to the document: every finding is an entry
 * of lunbench.checks; what is not ok is a sentence in lunbench.warnings too.
 * There the clones, steps and repeats of one job are one sentence, which says
 * how many more of them it holds for; and where a check found something in many
 * jobs, they all are.
 */

struct verdict {
	const char *check;
	const struct row *row; /* NULL: of the whole run */
	const char *op;	       /* NULL: of all */
	bool ok;
	double value, limit;
};

struct findings {
	struct put *p;
	json_t *checks, *warnings;   /* borrowed */
	struct findings_kind *kinds; /* owned */
	size_t nr_kinds, cap_kinds;
};

__attribute__((format(printf, 3, 4))) void findings_add(struct findings *f,
							const struct verdict *v,
							const char *fmt, ...);

/* Once, after the last: @f is empty then. */
void findings_end(struct findings *f);

#endif
