#include "report/bins.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/text.h"

static int by_ns(const void *a, const void *b)
{
	const struct bin *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

int bins_read(struct bins *b, const struct point *p, struct err *e)
{
	*b = (struct bins){0};
	return bins_add(b, p, e);
}

int bins_add(struct bins *b, const struct point *p, struct err *e)
{
	const json_t *latency = point_latency(p);
	json_t *bins = json_object_get(latency, "bins"), *count;
	uint64_t min = int_of(latency, "min"), max = int_of(latency, "max");
	struct bin *bin = realloc(b->bin, (b->nr + json_object_size(bins) + 1) *
						  sizeof(*bin));
	const char *key;
	size_t before = b->nr;

	if (!bin)
		return err_set(e, -ENOMEM, "no memory for a histogram");
	b->bin = bin;
	json_object_foreach(bins, key, count)
	{
		if (json_integer_value(count) <= 0)
			continue;
		bin = &b->bin[b->nr++];
		bin->ns = strtoull(key, NULL, 10);
		/* A bucket's middle may lie outside of what came. */
		bin->ns = bin->ns < min ? min : bin->ns > max ? max : bin->ns;
		bin->count = json_integer_value(count);
		b->total += bin->count;
	}
	qsort(b->bin + before, b->nr - before, sizeof(*b->bin), by_ns);
	if (b->nr > before) /* known exactly; the last bucket may end early */
		b->bin[b->nr - 1].ns = max;
	if (before)
		qsort(b->bin, b->nr, sizeof(*b->bin), by_ns);
	return 0;
}

void bins_release(struct bins *b)
{
	free(b->bin);
	*b = (struct bins){0};
}

uint64_t bins_percentile_ns(const struct bins *b, double percent)
{
	double rank = ceil(percent / 100 * (double)b->total);
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < b->nr; i++) {
		sum += b->bin[i].count;
		if ((double)sum >= rank)
			return b->bin[i].ns;
	}
	return b->nr ? b->bin[b->nr - 1].ns : 0;
}
