#ifndef VM_STAY_STATE_H
#define VM_STAY_STATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/journal.h"
#include "base/state.h"
#include "vm/net.h"

/* What is written down of a lab that stays, for stay.c and stay_up.c:
 *
 *	accel, kernel, size CPUS MIB, net KIND
 *	qemu PID START		before QEMU is there
 *	address ...		before the tap has one (stay_write_net())
 *	up WHAT			when all is
 */
extern const struct state_kind stay_kind;

int stay_read_journal(const struct state *s, struct journal_text *t,
		      struct err *e);

/* "" if there is none. */
const char *stay_get(const struct journal_text *t, const char *key);

void stay_get_net(struct net *n, const struct journal_text *t);
int stay_write_net(struct journal *j, const struct net *n, struct err *e);

/* True if QEMU was started and is still the process that it was. */
bool stay_recall_qemu(const struct journal_text *t, pid_t *pid,
		      unsigned long long *start_time);

/* Ends QEMU and removes what the folder holds, by what the journal says. */
int stay_undo(struct state *s, struct err *e);

#endif
