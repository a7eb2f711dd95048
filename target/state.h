#ifndef TARGET_STATE_H
#define TARGET_STATE_H

#include "base/state.h"

/*
 * The state folder of a bundled target (base/state.h), right below the root:
 *
 *	journal     see base/journal.h
 *	tgtd.log    what tgtd said
 *	sock.C      tgtd's management socket for control port C, and its lock
 *	image       the backing image, unless it is elsewhere
 *	memberN     images behind loop devices (disk.h)
 *	key         of a LUKS volume, while it is made
 */
extern const struct state_kind target_state;

#endif
