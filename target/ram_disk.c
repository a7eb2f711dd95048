#include "target/ram_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"

#define CALL_NS (60 * NS_PER_SEC)
#define CONFIGFS "/sys/kernel/config"
#define NULLB CONFIGFS "/nullb"

static int write_attribute(const char *folder, const char *name,
			   const char *value, struct err *e)
{
	char path[256];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		err = err_set(e, -errno, "cannot set \"%s\" to %s: %s", path,
			      value, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

static int write_number(const char *folder, const char *name,
			unsigned long long value, struct err *e)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", value);
	return write_attribute(folder, name, text, e);
}

int ram_disk_load(struct err *e)
{
	const char *modprobe[] = {"modprobe", "null_blk", "nr_devices=0", NULL};
	struct err why = {0};

	if (!access(NULLB, F_OK))
		return 0;
	if (geteuid())
		return err_set(e, -EPERM,
			       "RAM disks need root: run this in the lab, "
			       "lunbench lab exec -- lunbench ...");
	if (!child_check(modprobe, NULL, CALL_NS, NULL, &why) &&
	    access(NULLB, F_OK))
		mount("configfs", CONFIGFS, "configfs", 0, NULL);
	if (!access(NULLB, F_OK))
		return 0;
	return err_set(e, -ENOTSUP,
		       "this host's kernel has no RAM disks (null_blk): run "
		       "this in the lab, lunbench lab exec -- lunbench ...");
}

/* null_blk's names for a model. irqmode 2 answers from a timer, 0 at once.
 * A request longer than max_sectors would be cut, and pay for each part. */
static int set_up(const char *folder, const struct disk_model *m,
		  uint64_t size_bytes, struct err *e)
{
	const struct {
		const char *name;
		unsigned long long value;
	} set[] = {
		{"size", size_bytes >> 20},
		{"memory_backed", 1},
		{"blocksize", 512},
		{"max_sectors", 2560},
		{"submit_queues", 1},
		{"hw_queue_depth", m->requests},
		{"mbps", m->rate_mb},
		{"irqmode", m->service_ns ? 2 : 0},
		{"completion_nsec", m->service_ns},
		{"power", 1},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]) && !err; i++)
		err = write_number(folder, set[i].name, set[i].value, e);
	return err;
}

/* The queue in front of a disk stands for the disk's own (NCQ). Without one, a
 * disk that serves one request at a time blocks whoever hands it the second,
 * while the others idle. Two of the kernel's limits, made for what it takes for
 * a disk that can queue nothing, would do the same to writes alone:
 * writeback throttling lets two wait (raid5d then hands out 4 KiB at a time,
 * and nothing is merged: 4 to 70 instead of 196 writes of 256 KiB a second),
 * and mq-deadline's async_depth is not raised with nr_requests (block/blk-mq.c
 * asks the scheduler before it stores the new number). */
static int set_queue(const char *name, struct err *e)
{
	static const struct {
		const char *name, *value;
		bool is_optional; /* a kernel may be built without it */
	} set[] = {
		{"scheduler", "mq-deadline", false},
		{"nr_requests", "256", false},
		{"iosched/async_depth", "256", true},
		{"wbt_lat_usec", "0", true},
	};
	char folder[256], path[512];
	int err = 0;

	snprintf(folder, sizeof(folder), "/sys/block/%s/queue", name);
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]) && !err; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, set[i].name);
		if (!set[i].is_optional || !access(path, F_OK))
			err = write_attribute(folder, set[i].name, set[i].value,
					      e);
	}
	return err;
}

int ram_disk_make(struct disk *d, const struct disk_model *m,
		  uint64_t size_bytes, const char *name, struct journal *j,
		  struct err *e)
{
	char folder[256];
	int err = journal_write(j, e, "null-blk", "%s", name);

	if (err)
		return err;
	snprintf(folder, sizeof(folder), NULLB "/%s", name);
	if (mkdir(folder, 0755))
		return err_set(e, -errno, "cannot make the RAM disk \"%s\": %s",
			       name, strerror(errno));
	err = set_up(folder, m, size_bytes, e);
	if (!err && m->service_ns)
		err = set_queue(name, e);
	snprintf(d->path, sizeof(d->path), "/dev/%s", name);
	return err;
}

int ram_disk_remove(const char *name, struct err *e)
{
	char folder[256];

	snprintf(folder, sizeof(folder), NULLB "/%s", name);
	if (access(folder, F_OK))
		return 0;
	write_attribute(folder, "power", "0", NULL);
	if (!rmdir(folder))
		return 0;
	return err_set(e, -errno, "cannot remove the RAM disk \"%s\": %s", name,
		       strerror(errno));
}
