#ifndef COMMANDS_BENCH_REVIEW_H
#define COMMANDS_BENCH_REVIEW_H

#include <stddef.h>

/* Several tests on several arrays that go by one name. */
struct bench_review {
	const char *name, *summary;
	const char *tests; /* shipped jobs, with commas */
	const char *arrays;
};

/* Ends with a NULL name. */
extern const struct bench_review bench_reviews[];

/* NULL if there is none of that name (NULL: none). */
const struct bench_review *bench_review_find(const char *name);

#endif
