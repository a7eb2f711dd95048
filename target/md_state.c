#include "target/md_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"

#define CALL_NS (60 * NS_PER_SEC)
#define REMOVE_NS (10 * NS_PER_SEC)
#define POLL_NS (50 * NS_PER_MSEC)

void md_attribute(const char *device, const char *name, char *value,
		  size_t size)
{
	const char *slash = strrchr(device, '/');
	char path[256], *text;
	size_t len;

	value[0] = '\0';
	snprintf(path, sizeof(path), "/sys/block/%s/md/%s",
		 slash ? slash + 1 : device, name);
	if (file_read(path, 4096, &text, &len, NULL))
		return;
	snprintf(value, size, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
}

void md_state_read(struct md_state *st, const char *device)
{
	md_attribute(device, "array_state", st->state, sizeof(st->state));
	md_attribute(device, "degraded", st->degraded, sizeof(st->degraded));
	md_attribute(device, "sync_action", st->action, sizeof(st->action));
	md_attribute(device, "sync_completed", st->progress,
		     sizeof(st->progress));
	md_attribute(device, "chunk_size", st->chunk, sizeof(st->chunk));
	md_attribute(device, "layout", st->layout, sizeof(st->layout));
	md_attribute(device, "stripe_cache_size", st->stripe_cache,
		     sizeof(st->stripe_cache));
	if (!strcmp(st->chunk, "0"))
		st->chunk[0] = '\0';
}

static int manage(const char *device, const char *action, const char *member,
		  struct err *e)
{
	const char *argv[] = {"mdadm", "--manage", "--quiet", device,
			      action,  member,	   NULL};

	return child_check(argv, NULL, CALL_NS, NULL, e);
}

int md_fail(const char *device, const char *member, struct err *e)
{
	return manage(device, "--fail", member, e);
}

int md_replace(const char *device, const char *member, struct err *e)
{
	const char *blank[] = {"mdadm", "--zero-superblock", member, NULL};
	const struct timespec pause = {0, POLL_NS};
	uint64_t end = clock_now_ns() + REMOVE_NS;
	int err = manage(device, "--remove", member, e);

	/* md lets go of it when the I/O that it had has ended. */
	while (err == -EIO && clock_now_ns() < end) {
		nanosleep(&pause, NULL);
		err = manage(device, "--remove", member, e);
	}
	if (!err)
		err = child_check(blank, NULL, CALL_NS, NULL, e);
	return err ? err : manage(device, "--add", member, e);
}
