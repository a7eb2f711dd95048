#ifndef REPORT_FIO_OPTIONS_H
#define REPORT_FIO_OPTIONS_H

#include "report/row.h"

/*
 * "job options" and "global options": each setting by its own name, as text,
 * aliases under the name that fio writes. Secrets are masked.
 */
void fio_options_put_job(struct put *p, json_t *job, const struct row *r);
void fio_options_put_global(struct put *p, json_t *document,
			    const struct jobset *set);

#endif
