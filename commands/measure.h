#ifndef COMMANDS_MEASURE_H
#define COMMANDS_MEASURE_H

#include "commands/output.h"
#include "commands/prepare.h"

/* Runs a prepared plan: shows it, runs it with the live line, writes the
 * result, prints the table. Where until ends it early, p->plan is what ran. An
 * exit status: also when the run was interrupted
 * or failed, what was measured is written. */
int measure(struct prepared *p, struct request *r, struct output *o);

#endif
