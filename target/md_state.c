#include "target/md_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static void attribute_path(const char *device, const char *name, char *path,
			   size_t size)
{
	const char *slash = strrchr(device, '/');

	snprintf(path, size, "/sys/block/%s/md/%s", slash ? slash + 1 : device,
		 name);
}

void md_attribute(const char *device, const char *name, char *value,
		  size_t size)
{
	char path[320], *text;
	size_t len;

	value[0] = '\0';
	attribute_path(device, name, path, sizeof(path));
	if (file_read(path, 4096, &text, &len, NULL))
		return;
	snprintf(value, size, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
}

int md_set_attribute(const char *device, const char *name, const char *value,
		     struct err *e)
{
	char path[320];
	int fd, err = 0;

	attribute_path(device, name, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		err = err_set(e, -errno, "cannot set \"%s\" to %s: %s", path,
			      value, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

double md_progress(const char *progress)
{
	unsigned long long done, all;

	if (sscanf(progress, "%llu / %llu", &done, &all) != 2 || !all)
		return -1;
	return (double)done / all;
}

/* md's numbers for the layouts that mdadm has names for. */
static void name_layout(char *layout, size_t size, const char *level)
{
	static const char *const parity[] = {
		"left-asymmetric", "right-asymmetric", "left-symmetric",
		"right-symmetric", "parity-first",     "parity-last"};
	unsigned long n = strtoul(layout, NULL, 10);
	unsigned int near = n & 0xff, far = n >> 8 & 0xff;

	if (!strcmp(level, "raid10"))
		snprintf(layout, size, "%c%u",
			 far == 1      ? 'n'
			 : n & 1 << 16 ? 'o'
				       : 'f',
			 far == 1 ? near : far);
	else if (strcmp(level, "raid5") && strcmp(level, "raid6"))
		layout[0] = '\0'; /* raid0 says its number of a kernel's bug */
	else if (n < sizeof(parity) / sizeof(*parity))
		snprintf(layout, size, "%s", parity[n]);
}

void md_state_read(struct md_state *st, const char *device)
{
	char level[24];

	md_attribute(device, "level", level, sizeof(level));
	md_attribute(device, "array_state", st->state, sizeof(st->state));
	md_attribute(device, "degraded", st->degraded, sizeof(st->degraded));
	md_attribute(device, "sync_action", st->action, sizeof(st->action));
	md_attribute(device, "sync_completed", st->progress,
		     sizeof(st->progress));
	md_attribute(device, "chunk_size", st->chunk, sizeof(st->chunk));
	md_attribute(device, "layout", st->layout, sizeof(st->layout));
	md_attribute(device, "stripe_cache_size", st->stripe_cache,
		     sizeof(st->stripe_cache));
	md_attribute(device, "sync_speed_min", st->sync_speed_min,
		     sizeof(st->sync_speed_min));
	/* "1000 (system)" */
	if (!strstr(st->sync_speed_min, "local"))
		st->sync_speed_min[0] = '\0';
	st->sync_speed_min[strcspn(st->sync_speed_min, " ")] = '\0';
	if (!strcmp(st->chunk, "0"))
		st->chunk[0] = '\0';
	name_layout(st->layout, sizeof(st->layout), level);
}
