#ifndef REPORT_RESULT_H
#define REPORT_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "initiator/meter.h"
#include "report/beside.h"
#include "workloads/plan.h"

/*
 * The result file: one JSON document a run, a superset of fio's (3.33,
 * --output-format=json+), plus one "lunbench" object. Every table, page and
 * comparison reads this file, never live state. Schema:
 * docs/result.schema.json; meaning of each number: docs/METHOD.md.
 */

enum { RESULT_SCHEMA_VERSION = 1 };

struct fact {
	char *key, *value;
};

/*
 * Facts that the checks look at, in target: "store" (rdwr, aio, null),
 * "durable" (yes, no). Others are welcome; all are kept as they come. No
 * secret may be among them. Passwords in the job's own settings (a libiscsi
 * URL in a filename, keys of fio's http engine) are masked here.
 */

/* Of a login: what each side said, "" for nothing, and what holds. */
struct login_key {
	char *key, *offered, *answered, *result;
};

struct result_input { /* all borrowed */
	const struct plan *plan;
	const struct run_result *run;
	const char *url;       /* display form, no secrets */
	const char *transport; /* scheme */
	const char *job_name;  /* file or shipped name, NULL: command line */
	const struct fact *session; /* negotiated keys, as far as known */
	size_t nr_session;
	const struct login_key *keys; /* of the login, where it was seen */
	size_t nr_keys;
	const struct fact *
		target; /* of the bundled target: store, durable, tuned; or 0 */
	size_t nr_target;
	char *const *warnings; /* that arose outside plan and run */
	size_t nr_warnings;
	const struct beside *beside; /* of each row of the run; NULL: unknown */
};

/* Builds the document, with the checks (Little's law, fairness, CPU bound,
 * short run, outages) whose findings go to lunbench.warnings. NULL on no
 * memory. */
json_t *result_build(const struct result_input *in, struct err *e);

/* As it goes to a file or to stdout, with its line end. The caller frees it. */
char *result_format(const json_t *result, struct err *e);

/* Atomically. @path as given; folders must exist. */
int result_write(const json_t *result, const char *path, struct err *e);

/* Reads and checks one: truncated, foreign JSON, other schema version, wrong
 * types are errors that name file and field. result_parse is the same from
 * memory; any bytes are safe. */
json_t *result_read(const char *path, struct err *e);
json_t *result_parse(const char *name, const char *text, size_t len,
		     struct err *e);

#endif
