#ifndef COMMANDS_SYNC_LINE_H
#define COMMANDS_SYNC_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "target/array.h"

/* How far the first sync of an array is, on stderr: a line that changes on a
 * terminal, else a line now and then. A signal ends it, caught or pending. */
struct sync_line {
	bool is_quiet, is_tty, is_open;
	uint64_t said_ns; /* 0: never */
};

void sync_line_attach(struct sync_line *l, struct array_opts *o, bool is_quiet);
void sync_line_end(struct sync_line *l);

#endif
