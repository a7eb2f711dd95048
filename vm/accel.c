#include "vm/accel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "vm/scratch.h"

/* A guest under a working KVM is up in two; the host may be busy. */
#define PROBE_NS (12 * NS_PER_SEC)

#define VERDICT_FILE "kvm"

/* What a verdict is good for: this boot of this host. */
static void describe_host(char *text, size_t size)
{
	char *id = NULL;
	size_t len;

	if (file_read("/proc/sys/kernel/random/boot_id", 256, &id, &len, NULL))
		id = NULL;
	snprintf(text, size, "boot %s", id ? id : "unknown\n");
	free(id);
}

/* The kept verdict: 1 works, 0 does not, -1 unknown. */
static int recall(const struct cache *c)
{
	char path[PATH_MAX], host[128], *text;
	size_t len;
	int verdict = -1;

	cache_path(c, VERDICT_FILE, path);
	if (file_read(path, 4096, &text, &len, NULL))
		return -1;
	describe_host(host, sizeof(host));
	if (!strncmp(text, host, strlen(host)))
		verdict = !strcmp(text + strlen(host), "works\n") ? 1 : 0;
	free(text);
	return verdict;
}

static int remember(const struct cache *c, int works, struct err *e)
{
	char path[PATH_MAX], text[256], host[128];

	cache_path(c, VERDICT_FILE, path);
	describe_host(host, sizeof(host));
	snprintf(text, sizeof(text), "%s%s\n", host, works ? "works" : "fails");
	return file_write_atomic(path, text, strlen(text), e);
}

/* 1 if a guest ran `true` under KVM, 0 if not, -errno if we cannot tell. */
static int probe(const struct appliance *a, struct err *e)
{
	const char *const command[] = {"true", NULL};
	const struct appliance_extra extra = {.command = command};
	char initrd[PATH_MAX];
	struct guest_opts o = {.kernel = a->kernel.image,
			       .initrd = initrd,
			       .accel = GUEST_KVM,
			       .cpus = 1,
			       .memory_mib = 512,
			       .boot_deadline_ns = PROBE_NS,
			       .deadline_ns = PROBE_NS};
	struct guest_result r;
	struct scratch s = {.lock_fd = -1};
	int err = scratch_make(&s, e);

	if (!err) {
		scratch_path(&s, "initrd", initrd);
		o.folder = s.folder;
		err = appliance_compose(a, &extra, initrd, e);
	}
	if (!err)
		err = !guest_run(&o, &r, NULL) && !r.status;
	scratch_remove(&s);
	return err;
}

int accel_choose(enum guest_accel *accel, const struct appliance *a,
		 struct cache *c, char *why, struct err *e)
{
	int fd, works, err = 0;

	*accel = GUEST_TCG;
	fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		snprintf(why, 256, "no KVM (%s)", strerror(errno));
		return 0;
	}
	close(fd);
	works = recall(c);
	if (works < 0) {
		works = probe(a, e);
		if (works < 0)
			return works;
		err = remember(c, works, e);
	}
	if (works)
		*accel = GUEST_KVM;
	snprintf(why, 256, "%s",
		 works ? ""
		       : "/dev/kvm is there, but a probe guest did not run");
	return err;
}
