#ifndef REPORT_EVIDENCE_H
#define REPORT_EVIDENCE_H

#include <jansson.h>

#include "report/baseline.h"
#include "report/put.h"
#include "report/verdict.h"

/* From a document to its verdicts. Reads what result_parse() let pass, whole or
 * still without them. */

/* The figures of lunbench.rows[@row] of @document that verdict_make() judges,
 * which borrow from it. @baseline: NULL for none; true if it is of the same
 * operation, blocks and depth. */
bool evidence_of(struct evidence *e, const json_t *document, size_t row,
		 const struct baseline *baseline);

/* Gives every row its "bottleneck", or another one. Returns how many rows did
 * what @baseline did: the same operation, blocks and depth. */
size_t evidence_put(struct put *p, json_t *document,
		    const struct baseline *baseline);

#endif
