#include "target/md_member.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "target/disk.h"
#include "target/md_state.h"

#define CALL_NS (60 * NS_PER_SEC)
#define REMOVE_NS (10 * NS_PER_SEC)
#define POLL_NS (20 * NS_PER_MSEC)

/* "dev-sdb/state"; of a device mapper's device the name is dm-0's. */
static void state_name(const char *member, char *name, size_t size)
{
	char *real = realpath(member, NULL);
	const char *slash = strrchr(real ? real : member, '/');

	snprintf(name, size, "dev-%s/state", slash ? slash + 1 : member);
	free(real);
}

enum md_member_state md_member_state(const char *device, const char *member)
{
	char name[160], state[128];

	state_name(member, name, sizeof(name));
	md_attribute(device, name, state, sizeof(state));
	if (!state[0])
		return MD_AWAY;
	if (strstr(state, "faulty"))
		return MD_FAULTY;
	return strstr(state, "in_sync") ? MD_IN_SYNC : MD_REBUILDING;
}

/* --- may it fail? --- */

static size_t count_bad(const bool *is_good, size_t nr)
{
	size_t bad = 0;

	for (size_t i = 0; i < nr; i++)
		bad += !is_good[i];
	return bad;
}

static bool raid10_survives(unsigned int layout, const bool *is_good, size_t nr)
{
	size_t near = layout & 0xff, copies = near * (layout >> 8 & 0xff);
	size_t first = 0, good;

	if (!near || !nr)
		return false;
	do {
		good = 0;
		for (size_t k = 0; k < copies; k++)
			good += is_good[(first + k) % nr];
		if (!good)
			return false;
		first = (first + near) % nr;
	} while (first);
	return true;
}

bool md_survives(const char *level, unsigned int layout, const bool *is_good,
		 size_t nr)
{
	size_t bad = count_bad(is_good, nr);

	if (!strcmp(level, "raid1"))
		return bad < nr;
	if (!strcmp(level, "raid5"))
		return bad <= 1;
	if (!strcmp(level, "raid6"))
		return bad <= 2;
	if (!strcmp(level, "raid10"))
		return raid10_survives(layout, is_good, nr);
	return !bad;
}

/* Asked before md is: where it must say no, it marks the whole array broken,
 * and some kernels then refuse all writes. */
static int check_survives(const char *device, char members[][128], size_t nr,
			  size_t index, struct err *e)
{
	char level[24], layout[24];
	bool is_good[DISKS_MAX] = {false}, is_whole = true;

	md_attribute(device, "level", level, sizeof(level));
	md_attribute(device, "layout", layout, sizeof(layout));
	for (size_t i = 0; i < nr; i++) {
		is_good[i] = i != index &&
			     md_member_state(device, members[i]) == MD_IN_SYNC;
		is_whole &= i == index || is_good[i];
	}
	if (md_survives(level, strtoul(layout, NULL, 10), is_good, nr))
		return 0;
	return err_set(e, -EINVAL,
		       "member %zu (\"%s\") cannot fail: %s%s, and the array "
		       "would be lost with it",
		       index, members[index], level,
		       is_whole ? " has no redundancy"
				: " is degraded already");
}

int md_fail(const char *device, char members[][128], size_t nr, size_t index,
	    struct err *e)
{
	enum md_member_state state = md_member_state(device, members[index]);
	char name[160];
	int err;

	if (state == MD_FAULTY || state == MD_AWAY)
		return err_set(e, -EINVAL,
			       "member %zu (\"%s\") has failed already: put it "
			       "back with: lunbench target replace %zu",
			       index, members[index], index);
	err = check_survives(device, members, nr, index, e);
	if (err)
		return err;
	state_name(members[index], name, sizeof(name));
	return md_set_attribute(device, name, "faulty", e);
}

/* --- its replacement --- */

int md_remove(const char *device, const char *member, struct err *e)
{
	const struct timespec pause = {0, POLL_NS};
	uint64_t end = clock_now_ns() + REMOVE_NS;
	enum md_member_state state;
	char name[160];
	int err = -EBUSY;

	state_name(member, name, sizeof(name));
	while ((state = md_member_state(device, member)) == MD_FAULTY) {
		err = md_set_attribute(device, name, "remove", e);
		/* md lets go of it when the I/O that it had has ended. */
		if (err && (err != -EBUSY || clock_now_ns() >= end))
			return err;
		nanosleep(&pause, NULL);
	}
	if (state == MD_AWAY)
		return 0;
	return err_set(e, -EINVAL,
		       state == MD_REBUILDING
			       ? "\"%s\" is being rebuilt already"
			       : "\"%s\" is not faulty: fail it first, with: "
				 "lunbench target fail",
		       member);
}

/* Where md 1.2 keeps what it knows of a member: at 4 KiB. */
int md_blank(const char *member, struct err *e)
{
	static const char zeros[8192];
	const struct timespec pause = {0, POLL_NS};
	uint64_t end = clock_now_ns() + REMOVE_NS;
	int fd, err = 0;

	/* md gives the device itself back a moment later. */
	while ((fd = open(member, O_WRONLY | O_EXCL | O_CLOEXEC)) < 0 &&
	       errno == EBUSY && clock_now_ns() < end)
		nanosleep(&pause, NULL);
	if (fd < 0 || pwrite(fd, zeros, sizeof(zeros), 0) != sizeof(zeros) ||
	    fsync(fd))
		err = err_set(e, errno ? -errno : -EIO,
			      "cannot blank \"%s\": %s", member,
			      strerror(errno ? errno : EIO));
	if (fd >= 0)
		close(fd);
	return err;
}

int md_add(const char *device, const char *member, struct err *e)
{
	const char *argv[] = {"mdadm", "--manage", "--quiet", device,
			      "--add", member,	   NULL};

	return child_check(argv, NULL, CALL_NS, NULL, e);
}
