#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/cache.h"
#include "vm/cpio.h"

/*
 * Any bytes as what a guest sends back. Whatever they say, only folders and
 * plain files come of them, below the folder, no longer than they are, and
 * neither a link nor a file beside it is followed or touched.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t limit;

static int check(const char *path, const struct stat *st, int type,
		 struct FTW *at)
{
	(void)at;
	if (type == FTW_SL || type == FTW_SLN ||
	    (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode)) ||
	    (S_ISREG(st->st_mode) && (size_t)st->st_size > limit) ||
	    (st->st_mode & 07000)) {
		fprintf(stderr, "%s: mode %o, %lld bytes\n", path, st->st_mode,
			(long long)st->st_size);
		abort();
	}
	return 0;
}

static void put(const char *path, const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char top[64], archive[96], into[96], beside[96];
	struct stat st;
	struct err e;
	size_t nr;

	snprintf(top, sizeof(top), "/tmp/lunbench-fuzz.XXXXXX");
	if (!mkdtemp(top))
		abort();
	snprintf(archive, sizeof(archive), "%s/archive", top);
	snprintf(into, sizeof(into), "%s/in/to", top);
	snprintf(beside, sizeof(beside), "%s/in", top);
	put(archive, data, size);
	if (mkdir(beside, 0700) || mkdir(into, 0700))
		abort();
	cpio_extract(archive, into, &nr, &e);
	limit = size;
	nftw(into, check, 8, FTW_PHYS);
	/* Nothing but "to" is in there, and nothing of a name that it made. */
	if (rmdir(beside) == 0 || stat(archive, &st) ||
	    (size_t)st.st_size != size)
		abort();
	cache_remove_tree(into);
	if (rmdir(beside))
		abort();
	cache_remove_tree(top);
	return 0;
}
