#ifndef WORKLOADS_PLAN_SAY_H
#define WORKLOADS_PLAN_SAY_H

#include <stdio.h>

#include "workloads/plan.h"

/* A job of a plan in words; for plan_print.c. */

/* A sentence, broken between words. */
void plan_say_wrapped(FILE *out, const char *lead, const char *text);

/* As asked for: whole seconds without the decimals of a measured time. */
char *plan_say_time(char *buf, size_t size, uint64_t ns);

/* The job of @c, with all of its clients in @g; @verbose: every one. */
void plan_say_job(const struct plan *p, const struct plan_group *g,
		  const struct plan_client *c, bool verbose, FILE *out);

#endif
