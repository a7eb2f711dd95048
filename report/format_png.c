#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "report/formats.h"
#include "report/page_data.h"
#include "report/text.h"

/*
 * Two charts in one picture, drawn by gnuplot: throughput (against clients,
 * where it was swept) and latency by percentile. Figures and texts go to
 * gnuplot in data files, never in its script, where a name could be code.
 */
enum { CURVES_MOST = 20 };

#define PICTURE_BYTES_MAX ((size_t)64 << 20)

static const char *const file_names[] = {"rates", "curves", "script", "png"};
enum { RATES, CURVES, SCRIPT, PNG, FILES };

struct drawing {
	char folder[PATH_MAX];
	char path[FILES][PATH_MAX + 16];
	bool is_sweep;
	size_t nr_rates, nr_curves;
};

static int make_folder(struct drawing *d, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	size_t i;

	snprintf(d->folder, sizeof(d->folder), "%s/lunbench-XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(d->folder)) {
		d->folder[0] = '\0';
		return err_set(e, -errno,
			       "cannot make a folder for gnuplot in \"%s\": "
			       "%s; name another place in TMPDIR",
			       tmp && *tmp ? tmp : "/tmp", strerror(errno));
	}
	for (i = 0; i < FILES; i++)
		snprintf(d->path[i], sizeof(d->path[i]), "%s/%s", d->folder,
			 file_names[i]);
	return 0;
}

static void remove_folder(const struct drawing *d)
{
	size_t i;

	if (!d->folder[0])
		return;
	for (i = 0; i < FILES; i++)
		unlink(d->path[i]);
	rmdir(d->folder);
}

/* --- data --- */

/* In gnuplot's quotes, which nothing here may end. */
static void put_quoted(FILE *out, const char *text)
{
	char clean[40], *c; /* longer ones would leave the charts no room */

	text_clean(clean, sizeof(clean), text);
	for (c = clean; *c; c++)
		if (*c == '"' || *c == '\\')
			*c = '\'';
	fprintf(out, "\"%s\"\n", clean);
}

/* "label" MB/s, a line a point. */
static void put_rates(struct drawing *d, const json_t *data, FILE *out)
{
	const json_t *points = json_object_get(data, "points"), *p;
	size_t i;

	for (i = 0; i < json_array_size(points); i++) {
		p = json_array_get(points, i);
		if (!json_is_number(json_object_get(p, "mb_s")))
			continue;
		fprintf(out, "%.10g ", number_of(p, "mb_s"));
		put_quoted(out, text_of(p, "label"));
		d->nr_rates++;
	}
}

/* A block a sweep: its name, then clients and MB/s. */
static void put_sweeps(struct drawing *d, const json_t *sweeps, FILE *out)
{
	const json_t *steps;
	size_t i, k;

	d->nr_rates = json_array_size(sweeps);
	for (i = 0; i < d->nr_rates; i++) {
		put_quoted(out, text_of(json_array_get(sweeps, i), "label"));
		steps = json_object_get(json_array_get(sweeps, i), "steps");
		for (k = 0; k < json_array_size(steps); k++)
			fprintf(out, "%lld %.10g\n",
				(long long)int_of(json_array_get(steps, k),
						  "clients"),
				number_of(json_array_get(steps, k), "mb_s"));
		fputs("\n\n", out);
	}
}

/* A block a point: its name, then 1/(1-p) and ms. */
static void put_curves(struct drawing *d, const json_t *data, FILE *out)
{
	const json_t *points = json_object_get(data, "points"), *curve, *pair;
	size_t i, k;

	for (i = 0; i < json_array_size(points); i++) {
		curve = json_object_get(json_array_get(points, i), "curve");
		if (!json_array_size(curve) || d->nr_curves == CURVES_MOST)
			continue;
		d->nr_curves++;
		put_quoted(out, text_of(json_array_get(points, i), "label"));
		for (k = 0; k < json_array_size(curve); k++) {
			pair = json_array_get(curve, k);
			fprintf(out, "%.10g %.10g\n",
				json_number_value(json_array_get(pair, 0)),
				json_number_value(json_array_get(pair, 1)) /
					1e6);
		}
		fputs("\n\n", out);
	}
}

/* Where the files are, the script asks the environment: a path in its own
 * text would be code. */
static void put_script(const struct drawing *d, FILE *out)
{
	fputs("set terminal pngcairo noenhanced size 1200,1000\n"
	      "folder = system('printf %s \"$LUNBENCH_DRAWING\"')\n"
	      "rates = folder.'/rates'\ncurves = folder.'/curves'\n"
	      "set output folder.'/png'\nset multiplot layout 2,1\n"
	      "set grid\nset ylabel 'MB/s'\nset yrange [0:*]\n",
	      out);
	if (d->is_sweep)
		fprintf(out,
			"set xlabel 'clients'\nset key outside right\n"
			"plot for [i=0:%zu] rates index i using 1:2 with "
			"linespoints lw 2 title columnheader(1)\n",
			d->nr_rates - 1);
	else if (d->nr_rates)
		fprintf(out,
			"set style fill solid 0.8\nset boxwidth 0.7\n"
			"set xtics rotate by -30\nset xrange [-1:%zu]\n"
			"plot rates using 0:1:xticlabels(2) with boxes "
			"notitle\n",
			d->nr_rates);
	if (d->nr_curves)
		fprintf(out,
			"set xtics norotate\nset xrange [*:*]\n"
			"set yrange [*:*]\nset logscale xy\n"
			"set xlabel 'percentile'\nset ylabel 'latency, ms'\n"
			"set key outside right\n"
			"set xtics ('50 %%%%' 2, '90 %%%%' 10, '99 %%%%' 100, "
			"'99.9 %%%%' 1e3, '99.99 %%%%' 1e4, '99.999 %%%%' 1e5, "
			"'99.9999 %%%%' 1e6)\n"
			"plot for [i=0:%zu] curves index i using 1:2 with "
			"lines lw 2 title columnheader(1)\n",
			d->nr_curves - 1);
	fputs("unset multiplot\nset output\n", out);
}

static int write_files(struct drawing *d, const json_t *data, struct err *e)
{
	const json_t *sweeps = json_object_get(data, "sweeps");
	FILE *out[3] = {NULL};
	int err = 0;
	size_t i;

	d->is_sweep = json_array_size(sweeps) > 0;
	for (i = RATES; i <= SCRIPT; i++)
		out[i] = fopen(d->path[i], "we");
	if (out[RATES] && out[CURVES] && out[SCRIPT]) {
		if (d->is_sweep)
			put_sweeps(d, sweeps, out[RATES]);
		else
			put_rates(d, data, out[RATES]);
		put_curves(d, data, out[CURVES]);
		put_script(d, out[SCRIPT]);
	} else {
		err = -errno;
	}
	for (i = RATES; i <= SCRIPT; i++)
		if (out[i] && fclose(out[i]) && !err)
			err = -errno;
	if (err)
		return err_set(e, err,
			       "cannot write gnuplot's data in \"%s\": "
			       "%s; name another place in TMPDIR",
			       d->folder, strerror(-err));
	if (!d->nr_rates && !d->nr_curves)
		return err_set(e, -ENODATA,
			       "nothing to draw: nothing was measured");
	return 0;
}

/* --- the picture --- */

static int run_gnuplot(const struct drawing *d, struct err *e)
{
	char folder[PATH_MAX + 32];
	const char *const argv[] = {"gnuplot", d->path[SCRIPT], NULL};
	const char *const env[] = {folder, NULL};
	struct child_result r = {0};
	char line[200];
	int err;

	snprintf(folder, sizeof(folder), "LUNBENCH_DRAWING=%s", d->folder);
	err = child_run(argv, env, 60 * NS_PER_SEC, &r, e);
	if (err == -ENOENT)
		err = err_set(e, -EOPNOTSUPP,
			      "pictures need gnuplot; install it: apt-get "
			      "install gnuplot-nox");
	else if (!err && r.status)
		err = err_set(e, -EIO, "gnuplot failed with status %d: %s",
			      r.status,
			      child_last_line(r.err, line, sizeof(line)));
	child_result_release(&r);
	return err;
}

static int copy_picture(const struct drawing *d, FILE *out, struct err *e)
{
	char *picture;
	size_t len;
	int err = file_read(d->path[PNG], PICTURE_BYTES_MAX, &picture, &len, e);

	if (!err)
		fwrite(picture, 1, len, out);
	free(picture);
	return err;
}

static int write_png(const struct set *s, const struct comparison *beside,
		     FILE *out, struct err *e)
{
	struct drawing d = {0};
	json_t *data = page_data(s, e);
	int err;

	(void)beside;
	if (!data)
		return e->code;
	err = make_folder(&d, e);
	if (!err)
		err = write_files(&d, data, e);
	if (!err)
		err = run_gnuplot(&d, e);
	if (!err)
		err = copy_picture(&d, out, e);
	remove_folder(&d);
	json_decref(data);
	return err;
}

const struct format format_png = {
	.name = "png", .is_binary = true, .write = write_png};
