#ifndef REPORT_FIO_JSON_H
#define REPORT_FIO_JSON_H

#include "report/row.h"

/*
 * The part of the document that fio 3.33 would have written: same keys, same
 * types, same units, so that what reads fio's output reads ours. What fio
 * counts and we do not is listed in fio_json_not_measured and is zero.
 */

extern const char FIO_JSON_VERSION[];		  /* what parsers look for */
extern const char *const fio_json_not_measured[]; /* NULL-terminated keys */

/* "fio version", time stamps (of the end of the run), "global options". */
void fio_json_put_head(struct put *p, json_t *document,
		       const struct result_input *in);

/* One entry of jobs[]. */
void fio_json_put_job(struct put *p, json_t *jobs, const struct row *r);

#endif
