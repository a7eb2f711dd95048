#include "target/loop_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"

#define CALL_NS (60 * NS_PER_SEC)

static void load_loop(void)
{
	const char *modprobe[] = {"modprobe", "loop", NULL};

	/* If it fails, losetup says why. */
	if (access("/dev/loop-control", F_OK))
		child_check(modprobe, NULL, CALL_NS, NULL, NULL);
}

int loop_disk_make(struct disk *d, uint64_t size_bytes, const char *image,
		   struct journal *j, struct err *e)
{
	const char *losetup[] = {"losetup",	   "--find", "--show",
				 "--direct-io=on", image,    NULL};
	char *device = NULL;
	int fd, err;

	load_loop();
	err = journal_write(j, e, "image", "%s", image);
	if (err)
		return err;
	/* Left of a target whose state is lost (a reboot empties /run). */
	if (file_is_mine(image))
		unlink(image);
	fd = open(image, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	/* At its full size: no hole is filled while it is measured. */
	if (fd < 0 || (errno = posix_fallocate(fd, 0, size_bytes)))
		err = err_set(e, -errno, "cannot make \"%s\": %s", image,
			      strerror(errno));
	if (fd >= 0)
		close(fd);
	if (!err)
		err = journal_write(j, e, "loop", "%s", image);
	if (!err)
		err = child_check(losetup, NULL, CALL_NS, &device, e);
	/* A tmpfs may not do direct I/O. */
	if (err == -EIO) {
		losetup[3] = "--direct-io=off";
		err = child_check(losetup, NULL, CALL_NS, &device, e);
	}
	if (err == -EIO)
		err_prefix(e, "no loop device here (run this in the lab: "
			      "lunbench lab exec -- lunbench ...)");
	if (!err)
		snprintf(d->path, sizeof(d->path), "%.*s",
			 (int)strcspn(device, "\n"), device);
	free(device);
	return err;
}

int loop_disk_remove(const char *image, struct err *e)
{
	const char *list[] = {"losetup", "-n", "-O", "NAME", "-j", image, NULL};
	const char *detach[] = {"losetup", "-d", NULL, NULL};
	char *out = NULL;
	int err = child_check(list, NULL, CALL_NS, &out, e);

	if (err)
		return err;
	out[strcspn(out, " \n")] = '\0';
	detach[2] = out;
	if (*out)
		err = child_check(detach, NULL, CALL_NS, NULL, e);
	free(out);
	return err;
}
