#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* A finished result as a storage engineer reads it: target, one line a row
 * and op (MB/s, IOPS, mean, p50, p99, p99.9, max, CPU per I/O), then events and
 * warnings. Reads only the result document. @width: of the terminal, 0 for 80.
 */
void table_print(const json_t *result, unsigned int width, FILE *out);

#endif
