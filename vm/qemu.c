#include "vm/qemu.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 128 };

struct qemu_command {
	char *argv[ARGS_MAX + 1]; /* owned strings */
	size_t nr;
	bool failed; /* out of memory, or too many */
};

/* QEMU's own names for its virtual processor in a virtual second. */
int guest_mips_shift(unsigned int mips)
{
	for (int shift = 0; shift <= 10; shift++)
		if (mips == 1000U >> shift)
			return shift;
	return -1;
}

/* Under TCG a processor without AVX is two to three times as fast as "max":
 * md's xor and memcpy else go through emulated vector registers. */
const char *guest_cpu_model(enum guest_accel accel)
{
	return accel == GUEST_KVM ? "host" : "Nehalem";
}

static void __attribute__((format(printf, 2, 3)))
add(struct qemu_command *c, const char *fmt, ...)
{
	va_list ap;

	if (c->nr == ARGS_MAX) {
		c->failed = true;
		return;
	}
	va_start(ap, fmt);
	if (vasprintf(&c->argv[c->nr], fmt, ap) < 0)
		c->failed = true;
	else
		c->nr++;
	va_end(ap);
}

/* A path inside "key=value,key=value": a comma is doubled. */
static char *escape(const char *path)
{
	char *out = malloc(2 * strlen(path) + 1), *to = out;

	for (; out && *path; path++) {
		if (*path == ',')
			*to++ = ',';
		*to++ = *path;
	}
	if (out)
		*to = '\0';
	return out;
}

static void add_path(struct qemu_command *c, const char *option,
		     const char *before, const char *folder, const char *file)
{
	char *path = escape(folder);

	add(c, "%s", option);
	if (path)
		add(c, "%s%s%s%s", before, path, file ? "/" : "",
		    file ? file : "");
	else
		c->failed = true;
	free(path);
}

static void add_machine(struct qemu_command *c, const struct guest_opts *o)
{
	add(c, "qemu-system-x86_64");
	add(c, "-no-user-config");
	add(c, "-nodefaults");
	add(c, "-display");
	add(c, "none");
	/* A panic reboots at once (panic=-1), and a reboot ends QEMU. */
	add(c, "-no-reboot");
	add(c, "-machine");
	add(c, "pc,accel=%s", o->accel == GUEST_KVM ? "kvm" : "tcg");
	add(c, "-cpu");
	add(c, "%s", guest_cpu_model(o->accel));
	add(c, "-smp");
	add(c, "%u", o->mips ? 1 : o->cpus);
	add(c, "-m");
	add(c, "%u", o->memory_mib);
}

/* The clock is the count of instructions; while the guest waits, it jumps. The
 * seed is for what QEMU draws for the guest.
 *
 * rr=record is for its lock: QEMU's main thread then waits while the guest
 * runs. Without it (QEMU 7.2) that thread may look in the moment when the guest
 * has halted and its last instructions are not yet counted, and jumps too far
 * by them. Nothing is recorded: what would be is thrown away. */
static void add_virtual_time(struct qemu_command *c, const struct guest_opts *o)
{
	if (!o->mips)
		return;
	add(c, "-icount");
	add(c, "shift=%d,sleep=off,rr=record,rrfile=/dev/null",
	    guest_mips_shift(o->mips));
	add(c, "-rtc");
	add(c, "clock=vm,base=2026-01-01T00:00:00");
	add(c, "-seed");
	add(c, "1");
}

static void add_kernel(struct qemu_command *c, const struct guest_opts *o)
{
	add(c, "-kernel");
	add(c, "%s", o->kernel);
	add(c, "-initrd");
	add(c, "%s", o->initrd);
	add(c, "-append");
	/* nokaslr and norandmaps: where things lie in memory is an input. */
	add(c, "console=ttyS0 quiet panic=-1 mitigations=off%s",
	    o->mips ? " nokaslr norandmaps" : "");
}

/* ioeventfd=off: a write to a port is done when the guest's instruction is,
 * and not some host time later in another thread. */
static void add_ports(struct qemu_command *c, const struct guest_opts *o)
{
	static const char *const port[] = {"status", "out", "err", "result"};
	char before[64];

	add_path(c, "-serial", "file:", o->folder, "console");
	add(c, "-device");
	add(c, "virtio-serial-pci,ioeventfd=off");
	for (size_t i = 0; i < sizeof(port) / sizeof(port[0]); i++) {
		snprintf(before, sizeof(before), "file,id=%s,path=", port[i]);
		add_path(c, "-chardev", before, o->folder, port[i]);
		add(c, "-device");
		add(c, "virtserialport,chardev=%s,name=%s", port[i], port[i]);
	}
}

/* A shell is a socket that one client at a time can open. */
static void add_shells(struct qemu_command *c, const struct guest_opts *o)
{
	char before[64], name[16];

	for (unsigned int i = 0; i < o->nr_shells; i++) {
		snprintf(name, sizeof(name), "shell%u", i);
		snprintf(before, sizeof(before),
			 "socket,id=%s,server=on,wait=off,path=", name);
		add_path(c, "-chardev", before, o->folder, name);
		add(c, "-device");
		add(c, "virtserialport,chardev=%s,name=%s", name, name);
	}
}

/* restrict: the guest reaches nothing; what comes through the host's port is
 * answered. The tap's name is the kernel's choice (%d); it goes with QEMU. */
static void add_net(struct qemu_command *c, const struct guest_opts *o)
{
	if (!o->net)
		return;
	add(c, "-netdev");
	if (o->net->kind == NET_USER)
		add(c,
		    "user,id=net,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:"
		    "%u-" NET_USER_GUEST ":%u",
		    o->net->port, NET_GUEST_PORT);
	else
		add(c, "tap,id=net,ifname=" NET_TAP_NAME
		       "%%d,script=no,downscript=no,vnet_hdr=on");
	add(c, "-device");
	add(c, "virtio-net-pci,netdev=net,romfile=");
}

static void add_disks(struct qemu_command *c, const struct guest_opts *o)
{
	char before[128];

	for (int i = 0; o->disks && o->disks[i]; i++) {
		snprintf(before, sizeof(before),
			 "if=none,id=disk%d,format=raw,cache=none,aio=threads,"
			 "discard=unmap,file=",
			 i);
		add_path(c, "-drive", before, o->disks[i], NULL);
		add(c, "-device");
		add(c, "virtio-blk-pci,drive=disk%d", i);
	}
}

int qemu_command_new(struct qemu_command **out, const struct guest_opts *o,
		     struct err *e)
{
	struct qemu_command *c = calloc(1, sizeof(*c));

	if (c) {
		add_machine(c, o);
		add_virtual_time(c, o);
		add_kernel(c, o);
		add_ports(c, o);
		add_shells(c, o);
		add_disks(c, o);
		add_net(c, o);
	}
	*out = c;
	if (c && !c->failed)
		return 0;
	qemu_command_free(c);
	*out = NULL;
	return err_set(e, -ENOMEM, "cannot put QEMU's command line together");
}

const char *const *qemu_command_argv(const struct qemu_command *c)
{
	return (const char *const *)c->argv;
}

void qemu_command_free(struct qemu_command *c)
{
	for (size_t i = 0; c && i < c->nr; i++)
		free(c->argv[i]);
	free(c);
}
