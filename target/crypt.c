#include "target/crypt.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"

#define CALL_NS (120 * NS_PER_SEC)

int crypt_check(struct err *e)
{
	if (child_has_program("cryptsetup"))
		return 0;
	return err_set(e, -ENOENT,
		       "cryptsetup is not installed; apt-get install "
		       "cryptsetup-bin");
}

/* The key protects nothing: it is made for one target and lost with it. */
static int write_key(const char *path, struct err *e)
{
	unsigned char key[32];

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return err_set(e, -EIO, "no random bytes for a key");
	return file_write_atomic(path, key, sizeof(key), e);
}

int crypt_make(struct disk *d, size_t number, const struct state *s,
	       struct journal *j, struct err *e)
{
	char name[64], key[600];
	/* A fixed, small effort for the key: it is random already. Sectors of
	 * 512 bytes, or LUNs of such blocks would not fit. */
	const char *format[] = {"cryptsetup",
				"luksFormat",
				"--batch-mode",
				"--type",
				"luks2",
				"--pbkdf",
				"pbkdf2",
				"--pbkdf-force-iterations",
				"1000",
				"--sector-size",
				"512",
				"--key-file",
				key,
				d->path,
				NULL};
	const char *open_it[] = {"cryptsetup", "open",	     "--type",
				 "luks2",      "--key-file", key,
				 d->path,      name,	     NULL};
	int err;

	snprintf(name, sizeof(name), "lb%08x-crypt%zu",
		 (unsigned int)(state_hash(s) & 0xffffffff), number);
	state_path(s, "key", key, sizeof(key));
	err = write_key(key, e);
	if (!err && d->is_given)
		err = journal_write(j, e, "wipe", "%s", d->path);
	if (!err)
		err = child_check(format, NULL, CALL_NS, NULL, e);
	if (!err)
		err = journal_write(j, e, "crypt", "%s", name);
	if (!err)
		err = child_check(open_it, NULL, CALL_NS, NULL, e);
	unlink(key);
	if (err)
		return err;
	snprintf(d->path, sizeof(d->path), "/dev/mapper/%s", name);
	return disk_measure(d, e);
}

int crypt_close(const char *name, struct err *e)
{
	const char *close_it[] = {"cryptsetup", "close", name, NULL};
	char path[128];

	snprintf(path, sizeof(path), "/dev/mapper/%s", name);
	if (access(path, F_OK))
		return 0;
	return child_check(close_it, NULL, CALL_NS, NULL, e);
}
