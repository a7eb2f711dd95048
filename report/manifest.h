#ifndef REPORT_MANIFEST_H
#define REPORT_MANIFEST_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/*
 * set.json, in the folder of a set of runs: what was asked for, and what became
 * of each run, so that a set can be gone on with, and that a run which left no
 * result is not forgotten:
 *
 *	{"lunbench_set": 1, "version": "0.1", "command": ["WORD", ...],
 *	 "place": "lab", "runs": [{"name": "raid5 netbench",
 *	 "file": "raid5/netbench.json", "plan": "HASH", "state": "waiting",
 *	 "status": 0, "error": ""}, ...]}
 *
 * state: waiting, done, failed.
 */
enum { MANIFEST_VERSION = 1 };

/* True for a path that ends in set.json. */
bool manifest_is(const char *path);

/* That of the set in @folder; -ENOENT if there is none; -EINVAL names what is
 * wrong with it. The caller releases *m. */
int manifest_read(json_t **m, const char *folder, struct err *e);

/* Atomically. */
int manifest_write(const json_t *m, const char *folder, struct err *e);

/* Calls @fn for each run of the set.json at @path that has no whole result,
 * with a sentence. Stops at the first that is not 0, and returns it. */
int manifest_missing(const char *path,
		     int (*fn)(void *user, const char *text, struct err *e),
		     void *user, struct err *e);

#endif
