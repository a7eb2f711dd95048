#ifndef VM_ACCEL_H
#define VM_ACCEL_H

#include "base/err.h"
#include "vm/appliance.h"
#include "vm/cache.h"
#include "vm/guest.h"

/* KVM or emulation, by proof: a /dev/kvm that is there but runs no guest is
 * common (nested machines), and QEMU then stays in the boot for ever. So KVM
 * is taken only after a probe guest has really run a command within a
 * deadline. The verdict is kept until the host boots again. The cache is
 * locked by the caller.
 * @why (256 bytes): for people, where KVM is not used. */
int accel_choose(enum guest_accel *accel, const struct appliance *a,
		 struct cache *c, char *why, struct err *e);

#endif
