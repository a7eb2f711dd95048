#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/bins.h"
#include "report/formats.h"
#include "report/text.h"

/*
 * The percentile distribution that HdrHistogram's tools print and plot: value
 * in us, percentile, samples up to it, 1/(1 - percentile). Steps get finer as
 * 100 % comes nearer: five each time that the rest is halved. A file of this
 * form holds one histogram.
 */
enum { STEPS_A_HALVING = 5 };

static double next_level(double level)
{
	double halvings = floor(log2(100 / (100 - level))) + 1;

	return level + 100 / (STEPS_A_HALVING * exp2(halvings));
}

static void put_line(FILE *out, uint64_t ns, double level, uint64_t count)
{
	fprintf(out, "%12.3f %.12f %10llu", (double)ns / 1000, level / 100,
		(unsigned long long)count);
	if (level < 100)
		fprintf(out, " %14.2f", 1 / (1 - level / 100));
	fputc('\n', out);
}

static void put_lines(const struct bins *b, FILE *out)
{
	double level = 0;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i + 1 < b->nr; i++) {
		sum += b->bin[i].count;
		while (level < 100 &&
		       (double)sum * 100 / (double)b->total >= level) {
			put_line(out, b->bin[i].ns, level, sum);
			level = next_level(level);
		}
	}
	put_line(out, b->bin[i].ns, level, b->total);
	put_line(out, b->bin[i].ns, 100, b->total);
}

static void put_histogram(const struct point *p, const struct bins *b,
			  FILE *out)
{
	const json_t *latency = point_latency(p);

	fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile",
		"TotalCount", "1/(1-Percentile)");
	put_lines(b, out);
	fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n",
		number_of(latency, "mean") / 1000,
		number_of(latency, "stddev") / 1000);
	fprintf(out, "#[Max     = %12.3f, Total count    = %12llu]\n",
		number_of(latency, "max") / 1000, (unsigned long long)b->total);
	fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", 33, 256);
}

static int ask_for_one(const struct set *s, struct err *e)
{
	char names[400] = "", label[256], more[40] = "";
	const struct point *p;
	size_t i, told = 0;

	for (i = 0; i < s->nr_points && strlen(names) < 250; i++, told++) {
		p = &s->points[i];
		snprintf(names + strlen(names), sizeof(names) - strlen(names),
			 "%s%.60s%s%.60s", i ? ", " : "",
			 s->nr_files > 1 ? p->file->path : "",
			 s->nr_files > 1 ? ": " : "",
			 point_title(s, p, label, sizeof(label)));
	}
	if (told < s->nr_points)
		snprintf(more, sizeof(more), " and %zu more",
			 s->nr_points - told);
	return err_set(
		e, -EINVAL,
		"hgrm holds one histogram, and \"%.100s\" has %zu: %s%s; "
		"choose one with --job, --op, --result, --array, "
		"--clients, --repeat",
		s->name, s->nr_points, names, more);
}

static int write_hgrm(const struct set *s, const struct comparison *beside,
		      FILE *out, struct err *e)
{
	struct bins b;
	int err;

	(void)beside;
	if (s->nr_points != 1)
		return ask_for_one(s, e);
	err = bins_read(&b, s->points, e);
	if (!err && !b.nr)
		err = err_set(e, -ENODATA,
			      "\"%s\": no histogram of \"%.100s\"; nothing was "
			      "measured of it",
			      s->name, s->points->name);
	if (!err)
		put_histogram(s->points, &b, out);
	bins_release(&b);
	return err;
}

const struct format format_hgrm = {.name = "hgrm", .write = write_hgrm};
