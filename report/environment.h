#ifndef REPORT_ENVIRONMENT_H
#define REPORT_ENVIRONMENT_H

#include "report/put.h"

/*
 * lunbench.host: the machine that measured and the moment. With fio's three
 * time stamps it is all of the document that differs between two runs of the
 * same plan in virtual time: who compares those drops it.
 */
void environment_put(struct put *p, json_t *lunbench, uint64_t start_wall_ns);

#endif
