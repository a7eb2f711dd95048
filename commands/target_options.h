#ifndef COMMANDS_TARGET_OPTIONS_H
#define COMMANDS_TARGET_OPTIONS_H

#include "base/err.h"
#include "target/tgt.h"

/* What `target up` and `bench` ask of the bundled target, alike. */

enum target_option {
	TARGET_STORE = 0x3000,
	TARGET_SIZE,
	TARGET_BLOCK,
	TARGET_RAM,
	TARGET_STOCK,
	TARGET_ARRAY,
};

/* Rows for a table of argp options. */
#define TARGET_OPTION_ROWS                                                      \
	{"store",                                                               \
	 TARGET_STORE,                                                          \
	 "rdwr|aio|null",                                                       \
	 0,                                                                     \
	 "tgt's store: rdwr (the default) honours flushes; aio does not; "      \
	 "null keeps nothing, for tgt's own ceiling",                           \
	 0},                                                                    \
		{"size", TARGET_SIZE, "SIZE", 0, "size of the LUN (1G)", 0},    \
		{"block", TARGET_BLOCK, "512|4096", 0, "block size (512)", 0},  \
		{"ram", TARGET_RAM, NULL, 0, "the image in RAM (/dev/shm)", 0}, \
		{"stock",                                                       \
		 TARGET_STOCK,                                                  \
		 NULL,                                                          \
		 0,                                                             \
		 "tgt's own negotiated values instead of the tuned ones",       \
		 0},                                                            \
	{                                                                       \
		"array", TARGET_ARRAY, "KIND", 0,                               \
			"single; other arrays come with the lab", 0             \
	}

/* Sets one of them; -ENOSYS if @key is none. */
int target_option_set(struct tgt_opts *o, int key, const char *value,
		      struct err *e);

#endif
