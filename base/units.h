#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A byte count as a user wrote it. */
struct size_value {
	uint64_t bytes; /* valid unless is_percent */
	double percent; /* valid if is_percent, 0..100 */
	bool is_percent;
	bool kib_trap; /* the text has the i of KiB but means powers of 1000:
			  warn with the byte value */
};

/*
 * fio's sizes (HOWTO, "Parameter types"): integer, optional k m g t p with or
 * without b / i / ib, or % (decimals allowed); 0x hex without a suffix; case
 * does not matter. @kb_base is 1024 (default) or 1000. fio's own trap, seen
 * with fio 3.33: with 1024, 4k = 4ki = 4kb = 4096 and 4kib = 4000; with 1000,
 * 4k = 4ki = 4kb = 4000 and 4kib = 4096. Where fio would cut silently ("1.5g"
 * is one byte there), trailing junk, overflow and negative values are -EINVAL
 * or -ERANGE with the text in @e.
 */
int units_parse_size(const char *text, unsigned int kb_base,
		     struct size_value *out, struct err *e);

/* fio's times: number (decimals allowed) and d h m s ms us ns; without a unit
 * it is @default_unit_ns (1e9 for runtime, 1000 for thinktime). */
int units_parse_time(const char *text, uint64_t default_unit_ns, uint64_t *ns,
		     struct err *e);

int units_parse_uint(const char *text, uint64_t min, uint64_t max,
		     uint64_t *out, struct err *e);

/* Texts for people. All write into @buf and return it.
 * bytes: the largest binary unit that is exact in at most four digits and two
 * decimals ("4 KiB", "1.5 GiB", "513 B"), else two decimals ("931.51 GiB");
 * rate: "123.4 MB/s" (10^6); time: "812 ns", "14.2 us", "3.05 ms", "12.0 s",
 * "2 min 10 s"; count: "118k", "1.25M" as fio prints IOPS. */
char *units_bytes(char *buf, size_t size, uint64_t bytes);
char *units_rate(char *buf, size_t size, double bytes_per_second);
char *units_time(char *buf, size_t size, double ns);
char *units_count(char *buf, size_t size, double n);

#endif
