#ifndef VM_AGENT_H
#define VM_AGENT_H

#include "base/err.h"

/*
 * The guest's side of `lab shell`: serves one port (a device of virtio-serial)
 * for ever, one session after another: a shell on a terminal of its own, or one
 * command with pipes. When the client goes away, its command is ended with
 * SIGHUP, and a second later with SIGKILL.
 */

/* @names: the ports', NULL-terminated. One process each, which is started again
 * if it ends. Returns only when a port is not there: -ETIMEDOUT; -errno. */
int agent_run(const char *const *names, struct err *e);

#endif
