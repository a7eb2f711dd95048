#include "target/room.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "base/file.h"

uint64_t room_memory(void)
{
	unsigned long long kib = 0;
	uint64_t bytes = UINT64_MAX;
	char *text, *at;
	size_t len;

	if (file_read("/proc/meminfo", 1 << 20, &text, &len, NULL))
		return bytes;
	at = strstr(text, "MemAvailable:");
	if (at && sscanf(at, "MemAvailable: %llu", &kib) == 1)
		bytes = kib * 1024;
	free(text);
	return bytes;
}

int room_folder(const char *folder, uint64_t *bytes, struct err *e)
{
	uint64_t memory;
	struct statvfs v;
	struct statfs f;

	if (statvfs(folder, &v) || statfs(folder, &f))
		return err_set(e, -errno, "cannot look at \"%s\": %s", folder,
			       strerror(errno));
	*bytes = (uint64_t)v.f_bavail * v.f_frsize;
	if (f.f_type != TMPFS_MAGIC && f.f_type != RAMFS_MAGIC)
		return 0;
	memory = room_memory();
	if (f.f_type == RAMFS_MAGIC || memory < *bytes)
		*bytes = memory;
	return 0;
}
