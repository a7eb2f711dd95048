#ifndef COMMANDS_CHECK_TELL_H
#define COMMANDS_CHECK_TELL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "initiator/verify.h"

/* What `lunbench check` found, as the result's lunbench.check and as text. */

enum check_verdict {
	CHECK_KEPT,
	CHECK_BROKEN,
	CHECK_UNKNOWN, /* nothing could be compared, or not to the end */
};

struct check_facts {
	enum check_verdict verdict;
	const char *url;
	const char *why_unknown; /* with CHECK_UNKNOWN */
	const struct genmap_shape *shape;
	struct genmap_counts counts;
	struct verify_totals totals;
	const struct finding *findings; /* borrowed */
	size_t nr_findings;
	uint64_t io_errors;
	uint32_t max_atomic_blocks; /* the LUN's; 0: says nothing */
	bool is_resumed;
	const char *journal, *folder; /* NULL: none */
};

int check_put(const struct check_facts *f, json_t *document, struct err *e);
void check_print(const struct check_facts *f, FILE *out);

/* "lost write, zeroed": the kinds that were found. */
char *check_kinds(const struct verify_totals *t, char *text, size_t size);

#endif
