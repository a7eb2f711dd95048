#ifndef COMMANDS_QUIET_RUN_H
#define COMMANDS_QUIET_RUN_H

#include "commands/request.h"

/* Runs the keys of @r as a job on @url: probe, plan, run, and nothing more: no
 * table, no result file, and no question whether the LUN may be written to,
 * which is the caller's to know. An exit status, after saying why it is not
 * STATUS_OK; the caller releases @run in every case. */
int quiet_run(struct request *r, const char *url, struct run_result *run);

#endif
