#ifndef INITIATOR_SPEC_H
#define INITIATOR_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* The "key=value,key=value" of the sim and fault transports' URLs. */

struct spec_chance {	/* how often a fault comes */
	double percent; /* "1%": of the I/Os, at random; 0 */
	uint64_t every; /* "N": each N-th I/O; 0 */
};

enum spec_kind {
	SPEC_UINT,   /* uint64_t */
	SPEC_TIME,   /* uint64_t ns; without a unit microseconds */
	SPEC_SIZE,   /* struct size_value */
	SPEC_CHANCE, /* struct spec_chance */
	SPEC_WORD,   /* char[8] */
};

struct spec_key {
	const char *name;
	enum spec_kind kind;
	void *value; /* filled when the key is there */
};

/* @keys is ended by a NULL name. -EINVAL and a sentence with the key and the
 * known ones. */
int spec_parse(const char *text, const struct spec_key *keys, struct err *e);

#endif
