#ifndef TARGET_TGTD_H
#define TARGET_TGTD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/journal.h"
#include "target/listen.h"
#include "target/state.h"
#include "target/tgtadm.h"

/* One tgtd process of ours. */
struct tgtd {
	struct tgtadm adm;
	pid_t pid;
	uint64_t start_time; /* of the process, see base/child.h */
	uint16_t port;
};

/* The control port of a state folder. The management socket is private to the
 * folder, so no other tgtd can be in its way, whatever its number. */
int tgtd_control_port(const struct state *s);

struct tgtd_settings {
	uint16_t port;		 /* 0: a free one */
	unsigned int io_threads; /* a LUN of the rdwr store; 0: tgt's 16 */
	bool keeps_memory;	 /* does not give back what a command had */
};

/* Starts it and waits until it answers and is proven to listen on @a alone. A
 * free port is picked again if another takes it meanwhile. Journal:
 * "control N", then "port N" and "tgtd PID START" before each start.
 * On failure nothing runs. */
int tgtd_start(struct tgtd *d, const struct state *s,
	       const struct listen_address *a, const struct tgtd_settings *set,
	       struct journal *j, uint64_t end_ns, struct err *e);

/* Fills @d from a journal: false if it names no tgtd. */
bool tgtd_recall(struct tgtd *d, const struct state *s,
		 const struct journal_text *t, uint64_t end_ns);

bool tgtd_is_alive(const struct tgtd *d);

/* Target first, then the daemon, as tgt wants it; SIGKILL to exactly this
 * process if that does not help, or at once unless @politely. 0 when gone. */
int tgtd_stop(struct tgtd *d, bool politely, struct err *e);

#endif
