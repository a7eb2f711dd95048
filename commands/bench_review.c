#include "commands/bench_review.h"

#include <string.h>

/* A new one: a line here, one in docs/lunbench.1. */
const struct bench_review bench_reviews[] = {
	{"nas-review",
	 "a NAS over its volume types: ATTO, CrystalDiskMark, file copies",
	 "atto,cdm,copy-large,copy-medium,copy-small",
	 "span,raid0,raid1,raid5,raid10,jbod,span+crypt"},
	{0},
};

const struct bench_review *bench_review_find(const char *name)
{
	const struct bench_review *r;

	for (r = bench_reviews; r->name; r++)
		if (name && !strcmp(r->name, name))
			return r;
	return NULL;
}
