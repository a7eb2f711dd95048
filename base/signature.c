#include "base/signature.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Kinds that people know by another name than libblkid's. */
static const struct {
	const char *type, *text;
} well_known[] = {
	{"linux_raid_member", "Linux md RAID member"},
	{"LVM2_member", "LVM physical volume"},
	{"LVM1_member", "LVM physical volume"},
	{"crypto_LUKS", "LUKS encrypted volume"},
	{"swap", "swap space"},
	{"zfs_member", "ZFS pool member"},
	{"ceph_bluestore", "Ceph OSD"},
	{"VMFS_volume_member", "VMware VMFS volume"},
};

static const char *value_of(blkid_probe probe, const char *name)
{
	const char *value = "";

	if (blkid_probe_lookup_value(probe, name, &value, NULL))
		return "";
	return value;
}

/* Labels come from the disk: whatever is in them must not reach a terminal. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

/* One finding of the probe, in words. */
static void describe(blkid_probe probe, char *text, size_t size)
{
	const char *table = value_of(probe, "PTTYPE");
	const char *type = value_of(probe, "TYPE");
	const char *label = value_of(probe, "LABEL");
	const char *kind = type;

	if (!*type && *table) {
		snprintf(text, size, "%s partition table",
			 strcmp(table, "dos") ? table : "MBR (dos)");
		return;
	}
	for (size_t i = 0; i < sizeof(well_known) / sizeof(*well_known); i++)
		if (!strcmp(well_known[i].type, type))
			kind = well_known[i].text;
	snprintf(text, size, "%s%s%s%s%s", *type ? kind : "unknown signature",
		 strcmp(value_of(probe, "USAGE"), "filesystem")
			 ? ""
			 : " file system",
		 *label ? " \"" : "", label, *label ? "\"" : "");
	make_printable(text);
}

/* All findings, joined by " and ": a disk may well carry a file system's rest
 * and a partition table, and each is a reason not to write. */
static int collect(blkid_probe probe, char *found, size_t found_size)
{
	char text[160];
	size_t n;
	int r;

	while ((r = blkid_do_probe(probe)) == 0) {
		describe(probe, text, sizeof(text));
		if (strstr(found, text))
			continue;
		n = strlen(found);
		snprintf(found + n, found_size - n, "%s%s", n ? " and " : "",
			 text);
	}
	return r < 0 ? -EIO : 0;
}

int signature_find(int fd, uint64_t size_bytes, uint32_t block_bytes,
		   char *found, size_t found_size, struct err *e)
{
	blkid_probe probe;
	int err = 0;

	found[0] = '\0';
	/* libblkid takes 0 for "ask the file"; nothing fits in so little. */
	if (size_bytes < 1024)
		return 0;
	probe = blkid_new_probe();
	if (!probe)
		return err_set(e, -ENOMEM,
			       "no memory to look for signatures on the disk");
	if (blkid_probe_set_device(probe, fd, 0, size_bytes) ||
	    blkid_probe_set_sectorsize(probe, block_bytes) ||
	    blkid_probe_enable_superblocks(probe, 1) ||
	    blkid_probe_set_superblocks_flags(
		    probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE |
				   BLKID_SUBLKS_LABEL | BLKID_SUBLKS_MAGIC) ||
	    blkid_probe_enable_partitions(probe, 1))
		err = -EIO;
	if (!err)
		err = collect(probe, found, found_size);
	blkid_free_probe(probe);
	if (err)
		return err_set(e, err,
			       "cannot look for signatures on the disk "
			       "(%llu bytes, blocks of %u)",
			       (unsigned long long)size_bytes, block_bytes);
	return 0;
}
