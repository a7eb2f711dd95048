#ifndef TESTS_TARGET_LOGIN_H
#define TESTS_TARGET_LOGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/target/script.h"

/* The keys of RFC 7143 section 13, from the target's side. */

struct login_keys {
	bool has_said;	   /* what the target declares once */
	uint32_t max_recv; /* the initiator's MaxRecvDataSegmentLength */
	uint32_t max_burst;
	bool is_discovery;
};

void login_keys_init(struct login_keys *k);

/* Answers the text @in ("KEY=VALUE\0...") into @out; the bytes of it. */
size_t login_answer(struct login_keys *k, const struct script *s,
		    const char *in, size_t in_bytes, char *out, size_t size);

#endif
