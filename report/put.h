#ifndef REPORT_PUT_H
#define REPORT_PUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Building a JSON document without a check at each step. What can fail is
 * memory alone: the first failure sticks in @failed, later calls do nothing
 * harmful (a NULL parent is accepted), and the caller looks once, at the end.
 */
struct put {
	bool failed;
};

/* Into an object under @key; into an array where @key is NULL. */
void put_value(struct put *p, json_t *parent, const char *key, json_t *value);
json_t *put_object(struct put *p, json_t *parent,
		   const char *key); /* borrowed */
json_t *put_array(struct put *p, json_t *parent,
		  const char *key); /* borrowed */

/* JSON as jansson has it is signed: larger values are written as 2^63-1. */
void put_int(struct put *p, json_t *parent, const char *key, uint64_t value);
/* UINT64_MAX, our "no limit" and "never", becomes null. */
void put_int_or_null(struct put *p, json_t *parent, const char *key,
		     uint64_t value);
/* NaN and infinities, which JSON lacks, become 0. */
void put_real(struct put *p, json_t *parent, const char *key, double value);
void put_bool(struct put *p, json_t *parent, const char *key, bool value);
/* Bytes that are not UTF-8 become '?'; NULL becomes null. */
void put_text(struct put *p, json_t *parent, const char *key,
	      const char *value);
void put_format(struct put *p, json_t *parent, const char *key, const char *fmt,
		...) __attribute__((format(printf, 4, 5)));

#endif
