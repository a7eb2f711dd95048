#ifndef COMMANDS_JSON_OUT_H
#define COMMANDS_JSON_OUT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* Commands that print text for people or JSON for programs. */

/* --output-format=text|json */
int json_out_set(bool *is_json, const char *value, struct err *e);

/* To standard output; takes @j, which may be NULL (no memory). An exit status,
 * after saying why it is not STATUS_OK. */
int json_out_print(json_t *j);

#endif
