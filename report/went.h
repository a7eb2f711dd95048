#ifndef REPORT_WENT_H
#define REPORT_WENT_H

#include <jansson.h>
#include <stdio.h>

/*
 * Where the time of a document's rows went, in lines: the stages of each row
 * whose time did not all go to the target, and one sentence for each setting
 * that is seen to hurt, with what was measured and the key to change
 * (docs/METHOD.md, "Where the time goes").
 */
void table_print_went(const json_t *document, int width, FILE *out);

#endif
