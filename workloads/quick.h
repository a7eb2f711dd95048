#ifndef WORKLOADS_QUICK_H
#define WORKLOADS_QUICK_H

#include "workloads/jobfile.h"

/*
 * --quick: whether it works at all, in the least time. Each measurement ends
 * after a second, whatever its amount, with a ramp of at most a fifth of one
 * and without startdelay; at most 3 repeats, 5 where until waits for a steady
 * state. Sizes, depths, clients and steps stay. Jobs that are shorter stay as
 * they are.
 */
#define QUICK_RUNTIME_NS 1000000000ULL
#define QUICK_RAMP_NS 200000000ULL

/* Sets set->is_quick and warns in set->warnings, of what it means. Pure. 0 or
 * -ENOMEM; @set is whole either way. */
int quick_scale(struct jobset *set, struct err *e);

#endif
