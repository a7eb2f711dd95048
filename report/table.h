#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* A finished result as a storage engineer reads it: target, one line a row
 * and op (MB/s, IOPS, mean, p50, p99, p99.9, max, CPU per I/O); a sweep as one
 * line a step with its knee; repeats as one line a figure with best, mean and
 * interval, or as the job's view says; then events and warnings. Reads only the
 * result document. @width: of the terminal, 0 for 80. Tables keep within it;
 * warnings and URLs are one line each. */
void table_print(const json_t *result, unsigned int width, FILE *out);

/* The warnings alone, a line each. */
void table_print_warnings(const json_t *result, FILE *out);

#endif
