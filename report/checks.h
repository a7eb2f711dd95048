#ifndef REPORT_CHECKS_H
#define REPORT_CHECKS_H

#include "report/row.h"

/*
 * What makes a number doubtful. Each finding goes to lunbench.checks as
 * {check, row, op, ok, value, limit}, and where it is not ok, one sentence with
 * its figures to lunbench.warnings. Rules and limits: docs/METHOD.md, "Checks".
 */
void checks_put(struct put *p, json_t *checks, json_t *warnings,
		const struct result_input *in);

#endif
