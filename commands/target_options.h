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
	TARGET_THREADS,
	TARGET_ARRAY,
	TARGET_MEMBERS,
	TARGET_CHUNK,
	TARGET_LAYOUT,
	TARGET_STRIPE_CACHE,
	TARGET_SYNC_SPEED,
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
		{"threads",                                                     \
		 TARGET_THREADS,                                                \
		 "N",                                                           \
		 0,                                                             \
		 "I/O threads of the rdwr store (16)",                          \
		 0},                                                            \
		{"array",                                                       \
		 TARGET_ARRAY,                                                  \
		 "KIND",                                                        \
		 0,                                                             \
		 "what the LUN lies on: single, jbod, span, raid0, raid1, "     \
		 "raid5, "                                                      \
		 "raid6, raid10 (Linux md), each also as KIND+crypt (LUKS2)",   \
		 0},                                                            \
		{"members",                                                     \
		 TARGET_MEMBERS,                                                \
		 "SPEC",                                                        \
		 0,                                                             \
		 "of the array: /dev/sdb,/dev/sdc, or 4x1G (images), or "       \
		 "4x256M@hdd "                                                  \
		 "(RAM disks that behave like hdd, ssd, ram)",                  \
		 0},                                                            \
		{"chunk",                                                       \
		 TARGET_CHUNK,                                                  \
		 "SIZE",                                                        \
		 0,                                                             \
		 "of the array (mdadm's: 512K)",                                \
		 0},                                                            \
		{"layout", TARGET_LAYOUT, "NAME", 0, "of the array (mdadm's)",  \
		 0},                                                            \
		{"stripe-cache",                                                \
		 TARGET_STRIPE_CACHE,                                           \
		 "PAGES",                                                       \
		 0,                                                             \
		 "of raid5 and raid6 (md's: 256)",                              \
		 0},                                                            \
	{                                                                       \
		"sync-speed", TARGET_SYNC_SPEED, "SIZE", 0,                     \
			"what a sync or rebuild gets a second at least, also "  \
			"under load (md's: 1000K)",                             \
			0                                                       \
	}

/* Sets one of them; -ENOSYS if @key is none. */
int target_option_set(struct tgt_opts *o, int key, const char *value,
		      struct err *e);

/* After the last of them. */
void target_options_complete(struct array_opts *o);

#endif
