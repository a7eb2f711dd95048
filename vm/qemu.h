#ifndef VM_QEMU_H
#define VM_QEMU_H

#include "base/err.h"
#include "vm/guest.h"

/* QEMU's command line for a guest. Every choice that a measurement depends on
 * is made here and nowhere else. */
struct qemu_command;

int qemu_command_new(struct qemu_command **c, const struct guest_opts *o,
		     struct err *e);
const char *const *qemu_command_argv(const struct qemu_command *c);
void qemu_command_free(struct qemu_command *c);

#endif
