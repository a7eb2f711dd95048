#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "report/formats.h"
#include "report/page.h"
#include "report/text.h"

/*
 * Charts below each other in one picture, drawn by gnuplot: of sweeps
 * throughput and response time against clients with the knees, else throughput
 * and latency by percentile. Figures and texts go to gnuplot in data files,
 * never in its script, where a name could be code.
 */
enum { ROWS_MOST = 80, CURVES_MOST = 16, COLORS = 8, LABEL_MOST = 100 };

#define PICTURE_BYTES_MAX ((size_t)64 << 20)

static const char *const file_names[] = {"first", "second", "script", "png"};
enum { FIRST, SECOND, SCRIPT, PNG, FILES };

struct drawing {
	const struct layout *layout;
	const struct curves *curves;
	struct err *e;
	char folder[PATH_MAX];
	char path[FILES][PATH_MAX + 16];
	size_t nr_bars, nr_lines;
	bool has_knees;
};

static int make_folder(struct drawing *d)
{
	const char *tmp = getenv("TMPDIR");
	size_t i;

	snprintf(d->folder, sizeof(d->folder), "%s/lunbench-XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(d->folder)) {
		d->folder[0] = '\0';
		return err_set(d->e, -errno,
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
	char clean[LABEL_MOST + 1], *c;

	text_clean(clean, sizeof(clean), text);
	for (c = clean; *c; c++)
		if (*c == '"' || *c == '\\')
			*c = '\'';
	fprintf(out, "\"%s\"\n", clean);
}

/* A curve's name: its array, where all are of one job. */
static void put_curve_name(const struct drawing *d, const struct curve *c,
			   FILE *out)
{
	size_t i;

	for (i = 0; i < d->curves->nr; i++)
		if (!page_curves_are_beside(&d->curves->list[i], c))
			break;
	put_quoted(out, i == d->curves->nr ? page_array(c->point) : c->label);
}

/* A block a sweep: its name, then clients, MB/s with half its interval, ms with
 * the same. */
static void put_sweeps(struct drawing *d, FILE *out)
{
	const struct sweep_point *p;
	const struct curve *c;

	for (c = d->curves->list; c < d->curves->list + d->curves->nr; c++) {
		d->nr_lines++;
		put_curve_name(d, c, out);
		for (p = c->sweep.points;
		     p < c->sweep.points + c->sweep.nr_points; p++)
			fprintf(out, "%u %.10g %.10g %.10g %.10g\n", p->clients,
				p->rate.mean, p->rate.half,
				p->response_ns.mean / 1e6,
				p->response_ns.half / 1e6);
		fputs("\n\n", out);
	}
}

/* A line a knee: clients, MB/s, ms, its label. */
static void put_knees(struct drawing *d, FILE *out)
{
	const struct sweep_point *p;
	const struct curve *c;
	char knee[64], label[200];

	for (c = d->curves->list; c < d->curves->list + d->curves->nr; c++) {
		if (!c->sweep.has_knee)
			continue;
		d->has_knees = true;
		p = &c->sweep.points[c->sweep.knee];
		snprintf(label, sizeof(label), "%.80s: %s",
			 page_array(c->point),
			 page_knee(c, knee, sizeof(knee)));
		fprintf(out, "%u %.10g %.10g ", p->clients, p->rate.mean,
			p->response_ns.mean / 1e6);
		put_quoted(out, label);
	}
}

static char *name_cell(const struct drawing *d, const struct cell *c, char *buf,
		       size_t size)
{
	const struct point *p = c->figure->point;
	char name[256];

	layout_row_name(&d->layout->rows[c->row], name, sizeof(name));
	snprintf(buf, size, "%s%s%s%s%.60s %s",
		 d->layout->nr_arrays > 1 ? page_array(p) : "",
		 d->layout->nr_arrays > 1 ? " " : "",
		 d->layout->nr_tests > 1 ? p->test : "",
		 d->layout->nr_tests > 1 ? " " : "", name, op_name(p->op));
	return buf;
}

/* A line a figure: MB/s, half its interval, the array's colour, its name. */
static void put_bars(struct drawing *d, FILE *out)
{
	const struct spread *s;
	const struct cell *c;
	char name[512];

	for (c = d->layout->cells; c < d->layout->cells + d->layout->nr; c++) {
		s = &c->figure->spread[METRIC_MB_S];
		if (!s->n || d->nr_bars == ROWS_MOST)
			continue;
		fprintf(out, "%.10g %.10g %zu ", s->mean, s->half,
			c->array % COLORS + 1);
		put_quoted(out, name_cell(d, c, name, sizeof(name)));
		d->nr_bars++;
	}
}

/* A block a figure: its name, then 1/(1-p) and ms. */
static int put_curves(struct drawing *d, FILE *out)
{
	const struct cell *c;
	char name[512];
	struct bins b;
	int err = 0;
	double x;

	for (c = d->layout->cells; c < d->layout->cells + d->layout->nr && !err;
	     c++) {
		if (!cell_measured(c) || d->nr_lines == CURVES_MOST)
			continue;
		err = cell_bins(c, &b, d->e);
		if (!err && b.nr) {
			d->nr_lines++;
			put_quoted(out, name_cell(d, c, name, sizeof(name)));
			for (x = M_SQRT2; x <= 2 * (double)b.total;
			     x *= M_SQRT2)
				fprintf(out, "%.10g %.10g\n", x,
					(double)bins_percentile_ns(
						&b, 100 - 100 / x) /
						1e6);
			fputs("\n\n", out);
		}
		bins_release(&b);
	}
	return err;
}

/* --- the script --- */

/* The page's colours, and dashes beyond them. Where the files are, the script
 * asks the environment: a path in its own text would be code. */
static void put_beginning(size_t height, FILE *out)
{
	static const char *const colors[COLORS] = {
		"#0072b2", "#d55e00", "#00866a", "#b5558f",
		"#b98300", "#3a9bd4", "#3c3c3c", "#7a6a00"};
	size_t i;

	fprintf(out, "set terminal pngcairo noenhanced size 1200,%zu\n",
		height);
	for (i = 0; i < 2 * COLORS; i++)
		fprintf(out,
			"set linetype %zu lc rgb '%s' lw 2 dt %zu pt %zu\n",
			i + 1, colors[i % COLORS], i / COLORS + 1,
			2 * (i % COLORS) % 7 + 5);
	fprintf(out,
		"set linetype cycle %d\n"
		"folder = system('printf %%s \"$LUNBENCH_DRAWING\"')\n"
		"first = folder.'/first'\nsecond = folder.'/second'\n"
		"set output folder.'/png'\nset multiplot\n"
		"set grid lc rgb '#bbbbbb' lw 1 dt 1\nset border 3\n"
		"set tics nomirror\nset key below\n"
		"set rmargin 6\nset origin 0,0\n",
		2 * COLORS);
}

/* One of @nr charts, from the top. */
static void put_place(double from, double to, FILE *out)
{
	fprintf(out, "set origin 0,%g\nset size 1,%g\n", from, to - from);
}

static void put_sweep_script(const struct drawing *d, FILE *out)
{
	static const char *const titles[] = {"Throughput against clients",
					     "Response time against clients"};
	static const char *const axes[] = {"MB/s", "mean response time, ms"};
	size_t i;

	put_beginning(1150, out);
	for (i = 0; i < 2; i++) {
		put_place(i ? 0 : 0.5, i ? 0.5 : 1, out);
		fprintf(out,
			"set title '%s'\nset ylabel '%s'\nset xlabel "
			"'clients'\nset yrange [0:*]\nset xrange [0:*]\n"
			"plot for [i=0:%zu] first index i using 1:%zu:%zu with "
			"yerrorlines lt i+1 title columnheader(1)",
			titles[i], axes[i], d->nr_lines - 1, 2 + 2 * i,
			3 + 2 * i);
		if (d->has_knees)
			fprintf(out,
				", second using 1:%zu with points pt 6 ps 3 "
				"lw 2 lc rgb '#000000' title 'knee', second "
				"using 1:%zu:%d with labels left offset 1,-1.3 "
				"notitle",
				2 + i, 2 + i, i ? 1 : 4);
		fputc('\n', out);
	}
}

static void put_bar_script(const struct drawing *d, FILE *out)
{
	size_t bars = d->nr_bars ? 120 + 24 * d->nr_bars : 0;
	size_t lines = d->nr_lines ? 480 + 20 * d->nr_lines : 0;
	double split = (double)lines / (double)(bars + lines);

	put_beginning(bars + lines, out);
	if (bars) {
		put_place(split, 1, out);
		fprintf(out,
			"set title 'Throughput'\nset xlabel 'MB/s'\n"
			"set xrange [0:*]\nset yrange [%zu.5:-0.5]\n"
			"set style fill solid 0.85 noborder\n"
			"plot first using 1:0:(0):1:($0-0.38):($0+0.38):3:"
			"yticlabels(4) with boxxyerror lc variable notitle, "
			"first using 1:0:2 with xerrorbars pt 0 lc rgb "
			"'#000000' lw 1 notitle\n",
			d->nr_bars - 1);
	}
	if (!lines)
		return;
	put_place(0, split, out);
	fprintf(out,
		"set title 'Latency by percentile'\nset xrange [*:*]\n"
		"set yrange [*:*]\nset ytics auto\nset logscale xy\n"
		"set xlabel 'percentile'\nset ylabel 'latency, ms'\n"
		"set xtics ('50 %%%%' 2, '90 %%%%' 10, '99 %%%%' 100, '99.9 "
		"%%%%' 1e3, "
		"'99.99 %%%%' 1e4, '99.999 %%%%' 1e5, '99.9999 %%%%' 1e6)\n"
		"plot for [i=0:%zu] second index i using 1:2 with lines title "
		"columnheader(1)\n",
		d->nr_lines - 1);
}

static int put_all(struct drawing *d, FILE *const out[])
{
	int err = 0;

	if (d->curves->nr) {
		put_sweeps(d, out[FIRST]);
		put_knees(d, out[SECOND]);
		put_sweep_script(d, out[SCRIPT]);
	} else {
		put_bars(d, out[FIRST]);
		err = put_curves(d, out[SECOND]);
		if (!err && (d->nr_bars || d->nr_lines))
			put_bar_script(d, out[SCRIPT]);
	}
	fputs("unset multiplot\nset output\n", out[SCRIPT]);
	return err;
}

static int write_files(struct drawing *d)
{
	FILE *out[3] = {NULL};
	int err = 0, failed = 0;
	size_t i;

	for (i = FIRST; i <= SCRIPT; i++)
		out[i] = fopen(d->path[i], "we");
	if (out[FIRST] && out[SECOND] && out[SCRIPT])
		err = put_all(d, out);
	else
		failed = -errno;
	for (i = FIRST; i <= SCRIPT; i++)
		if (out[i] && fclose(out[i]) && !failed)
			failed = -errno;
	if (err)
		return err;
	if (failed)
		return err_set(d->e, failed,
			       "cannot write gnuplot's data in \"%s\": "
			       "%s; name another place in TMPDIR",
			       d->folder, strerror(-failed));
	if (!d->nr_bars && !d->nr_lines)
		return err_set(d->e, -ENODATA,
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

static int draw(const struct layout *l, const struct curves *c, FILE *out,
		struct err *e)
{
	struct drawing d = {.layout = l, .curves = c, .e = e};
	int err = make_folder(&d);

	if (!err)
		err = write_files(&d);
	if (!err)
		err = run_gnuplot(&d, e);
	if (!err)
		err = copy_picture(&d, out, e);
	remove_folder(&d);
	return err;
}

static int write_png(const struct set *s, const struct comparison *beside,
		     FILE *out, struct err *e)
{
	struct layout l = {0};
	struct curves c = {0};
	int err;

	(void)beside;
	err = layout_of(&l, s, e);
	if (!err)
		err = curves_of(&c, s, true, e);
	if (!err)
		err = draw(&l, &c, out, e);
	curves_release(&c);
	layout_release(&l);
	return err;
}

const struct format format_png = {
	.name = "png", .is_binary = true, .write = write_png};
