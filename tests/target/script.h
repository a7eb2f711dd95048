#ifndef TESTS_TARGET_SCRIPT_H
#define TESTS_TARGET_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * What the instant target is told: settings and rules, as arguments or as the
 * lines of a file (# begins a comment).
 *
 *   size=1G block=512 store=64M     the LUN; its blocks lie in that much memory
 *                                   (a larger LUN sees the same bytes again)
 *   luns=1                          LUNs 1 to N, all the same blocks
 *   window=128                      commands at once: MaxCmdSN - ExpCmdSN + 1
 *   r2t=BYTES[,BYTES...]            most that one R2T asks for, in turn
 *   sndbuf=BYTES rcvbuf=BYTES       of its sockets; 0: the system's
 *   InitialR2T=Yes, and any other key of RFC 7143 section 13: what the target
 *                                   wants (or, for a key that it does not
 *                                   negotiate, says)
 *
 *   rule WHAT WHEN... ACT
 *     WHAT  read, write, flush, unmap, io (any of these), any (all commands),
 *           logout (which knows data-in, drop and stall)
 *     WHEN  every=N: each Nth of them; after=N: the first N do not count;
 *           times=N: no more than that often
 *     ACT   busy, full, attention, medium: that status or sense
 *           delay=TIME: the answer comes that much later
 *           stall: it never comes;  drop: the connection is closed instead
 *           cut: so it is, after 20 bytes of the answer's header
 *           ping: a NOP-In that wants an answer comes after it
 *           logout=N: an Async Message of event N (RFC 7143 section 11.9) does:
 *           1 asks for a logout; 2 and 3 tell that the target drops the
 *           connection, which it does
 *           shut=TIME: the window is shut for that long, then a NOP-In opens it
 *           data-in: one Data-In PDU without status comes first, asked or not
 *           short: a read gets half of its data, and GOOD without a residual
 *           early: a write gets an R2T for all, and GOOD at once
 *           early-zero: so it is, and a residual of 0 bytes is told
 *           deny: an R2T for all, and a medium error at once
 *           r2t: an R2T for 1 MiB comes first, asked or not
 *     ACT of a write that is answered well and goes wrong (tests/target/
 *           corrupt.h): flip, lost, swap, tear, misdirect, duplicate, zero,
 *           stale
 *
 * "rule read every=100 busy", "rule io after=5000 times=1 drop".
 */
enum what {
	WHAT_READ = 1,
	WHAT_WRITE = 2,
	WHAT_FLUSH = 4,
	WHAT_UNMAP = 8,
	WHAT_OTHER = 16,
	WHAT_LOGOUT = 32,
	WHAT_IO = WHAT_READ | WHAT_WRITE | WHAT_FLUSH | WHAT_UNMAP,
	WHAT_ANY = WHAT_IO | WHAT_OTHER,
};

enum act {
	ACT_NONE,
	ACT_BUSY,
	ACT_FULL,
	ACT_ATTENTION,
	ACT_MEDIUM,
	ACT_DELAY,
	ACT_STALL,
	ACT_DROP,
	ACT_CUT,
	ACT_PING,
	ACT_DATA_IN,
	ACT_SHORT,
	ACT_EARLY,
	ACT_EARLY_ZERO,
	ACT_DENY,
	ACT_R2T,
	ACT_LOGOUT,
	ACT_SHUT,
	ACT_FLIP, /* from here on: of data */
	ACT_LOST,
	ACT_SWAP,
	ACT_TEAR,
	ACT_MISDIRECT,
	ACT_DUPLICATE,
	ACT_ZERO,
	ACT_STALE,
};

static inline bool act_is_of_data(enum act a)
{
	return a >= ACT_FLIP;
}

struct rule {
	unsigned int what; /* enum what, ored */
	uint64_t every, after, times;
	enum act act;
	uint64_t delay_ns; /* or that the window is shut */
	unsigned int event;
	uint64_t seen, done; /* counts of all sessions together */
};

struct key { /* of the login */
	char name[64], value[256];
};

struct script {
	uint64_t size_bytes, store_bytes;
	uint64_t block_bytes, luns, window, sndbuf, rcvbuf;
	uint32_t r2t_bytes[16];
	size_t nr_r2t;
	struct rule rules[32];
	size_t nr_rules;
	struct key keys[32];
	size_t nr_keys;
};

void script_init(struct script *s);
int script_line(struct script *s, const char *line, struct err *e);
int script_file(struct script *s, const char *path, struct err *e);
/* After the last line. */
int script_check(struct script *s, struct err *e);

/* The rule that this command meets, counted; NULL: none. The first one that
 * hits wins, but all count. */
const struct rule *script_meet(struct script *s, enum what what);

/* NULL: the script does not name it. */
const char *script_key(const struct script *s, const char *name);

#endif
