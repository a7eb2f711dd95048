#ifndef REPORT_CHECK_WORDS_H
#define REPORT_CHECK_WORDS_H

#include <jansson.h>
#include <stddef.h>

/* What an entry of lunbench.checks that is not ok found, in a few words and
 * without its row: "I/Os measured: 312, under 1000". The sentences in
 * lunbench.warnings say more, but not which check each is of. */
char *check_say(const json_t *check, char *buf, size_t size);

#endif
