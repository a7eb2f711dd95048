#ifndef COMMANDS_OUTPUT_H
#define COMMANDS_OUTPUT_H

#include <jansson.h>
#include <limits.h>

#include "commands/request.h"

/* Where the result document goes: a file, stdout (--output-format=json), or
 * both. Both functions return an exit status after saying why. */
struct output {
	bool is_json;
	bool has_file;
	char path[PATH_MAX];
};

/* Picks the path and proves, before anything is measured, that it can be
 * written. */
int output_open(struct output *o, const struct request *r,
		const char *job_name);

/* Writes the document. What was measured is not given up for a full disk: then
 * it goes to $TMPDIR, the path is said, and the status is STATUS_TARGET. */
int output_write(struct output *o, const json_t *result);

#endif
