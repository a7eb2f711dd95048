#include "commands/bench_where.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "commands/commands.h"
#include "vm/lab.h"

static bool has_module(const char *name)
{
	const char *modprobe[] = {"modprobe", "-n", "-q", name, NULL};
	struct child_result r = {0};
	char loaded[128];
	bool found;

	snprintf(loaded, sizeof(loaded), "/sys/module/%s", name);
	if (!access(loaded, F_OK))
		return true;
	found = !child_run(modprobe, NULL, 10 * NS_PER_SEC, &r, NULL) &&
		!r.status;
	child_result_release(&r);
	return found;
}

/* True if @list has an array of that kind, or one that is neither. */
static bool has_kind(const char *list, const char *a, const char *b)
{
	size_t len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (strncmp(list, a, strlen(a)) && strncmp(list, b, strlen(b)))
			return true;
	}
	return false;
}

/* What this host lacks to make them, "" for nothing. */
static void find_missing(const char *arrays, const char *members, char *why,
			 size_t size)
{
	const struct {
		bool is_needed;
		const char *module, *program, *text;
	} needs[] = {
		{has_kind(arrays, "single", "jbod"), "md_mod", "mdadm",
		 "md (the kernel's md_mod, and mdadm)"},
		{strstr(arrays, "+crypt") != NULL, "dm_crypt", "cryptsetup",
		 "LUKS (the kernel's dm_crypt, and cryptsetup)"},
		{strchr(members, '@') != NULL, "null_blk", "modprobe",
		 "RAM disks (the kernel's null_blk)"},
	};

	why[0] = '\0';
	if (!*members)
		return;
	if (geteuid()) {
		snprintf(why, size, "this user is not root");
		return;
	}
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (needs[i].is_needed &&
		    (!has_module(needs[i].module) ||
		     !child_has_program(needs[i].program))) {
			snprintf(why, size, "this host has no %s",
				 needs[i].text);
			return;
		}
}

static int refuse_host(const char *arrays, const char *why)
{
	say("--where host: %s, which %s needs; leave it out, and it runs in "
	    "the lab, a QEMU guest",
	    why, arrays);
	return STATUS_USAGE;
}

/* @why: not on this host; "" if the lab was asked for. */
static int check_lab(const char *why)
{
	struct err e = {0};

	if (!lab_check_host(&e))
		return STATUS_OK;
	if (*why)
		say("%s; and %s; or run it as root on a host that has all "
		    "that",
		    why, e.text);
	else
		say("%s", e.text);
	return STATUS_TARGET;
}

int bench_where_check(bool in_lab, const char *arrays, const char *members)
{
	char why[128];

	if (in_lab)
		return check_lab("");
	find_missing(arrays, members, why, sizeof(why));
	return why[0] ? refuse_host(arrays, why) : STATUS_OK;
}

int bench_where_choose(const struct bench *b, const char *arrays,
		       const char *members, bool *in_lab)
{
	char why[128] = "";
	int status;

	if (b->is_virtual && b->where == WHERE_HOST) {
		say("--virtual-time is the lab's, not the host's: leave "
		    "--where host out");
		return STATUS_USAGE;
	}
	*in_lab = b->is_virtual || b->where == WHERE_LAB;
	if (!*in_lab)
		find_missing(arrays, members, why, sizeof(why));
	if (why[0] && b->where == WHERE_HOST)
		return refuse_host(arrays, why);
	*in_lab = *in_lab || why[0];
	status = *in_lab ? check_lab(why) : STATUS_OK;
	if (status || b->where != WHERE_AUTO)
		return status;
	if (b->is_virtual)
		say("in the lab: virtual time");
	else if (*in_lab)
		say("in the lab: %s", why);
	else if (*members)
		say("on this host, which can make %s", arrays);
	return STATUS_OK;
}
