#include <stdlib.h>
#include <string.h>

#include "report/compare_curves.h"
#include "report/grid.h"
#include "report/text.h"

enum {
	COL_LABEL,
	COL_METRIC,
	COL_A,
	COL_B,
	COL_RATIO,
	COL_INTERVAL,
	COL_VERDICT,
	COLUMNS
};

enum { WIDTH = 80 };

static const struct grid_column columns[COLUMNS] = {
	[COL_LABEL] = {"job", true, 0},
	[COL_METRIC] = {"metric", true, 0},
	[COL_A] = {"A", false, 0},
	[COL_B] = {"B", false, 0},
	[COL_RATIO] = {"B/A", false, 0},
	[COL_INTERVAL] = {"95 % interval", false, 0},
	[COL_VERDICT] = {"verdict", true, 0},
};

struct line {
	char cell[COLUMNS][96];
};

static void fill(struct line *l, const struct comparison_item *item)
{
	memset(l, 0, sizeof(*l));
	snprintf(l->cell[0], sizeof(l->cell[0]), "%.95s", item->label);
	snprintf(l->cell[1], sizeof(l->cell[1]), "%s",
		 metrics[item->metric].title);
	strcpy(l->cell[2], "-");
	strcpy(l->cell[3], "-");
	if (item->has_a)
		metric_text(item->metric, item->a.estimate.mean, l->cell[2],
			    sizeof(l->cell[2]));
	if (item->has_b)
		metric_text(item->metric, item->b.estimate.mean, l->cell[3],
			    sizeof(l->cell[3]));
	snprintf(l->cell[4], sizeof(l->cell[4]), "%.3f", item->ratio);
	if (item->verdict == VERDICT_MISSING)
		strcpy(l->cell[4], "-");
	if (item->verdict < VERDICT_NO_INTERVAL)
		snprintf(l->cell[5], sizeof(l->cell[5]), "%.3f .. %.3f",
			 item->interval.low, item->interval.high);
	else
		strcpy(l->cell[5], "-");
	snprintf(l->cell[6], sizeof(l->cell[6]), "%s%s",
		 verdict_names[item->verdict], item->fails ? ", FAILS" : "");
}

/* It would be one of hundreds of lines that all say nothing. */
static bool is_quiet(const struct comparison_item *item)
{
	return item->is_step && item->verdict == VERDICT_NO_DIFFERENCE;
}

static void print_table(const struct comparison *c, FILE *out)
{
	size_t i, k, quiet = 0;
	struct line l;
	struct grid g;

	grid_init(&g, columns, COLUMNS, true);
	for (i = 0; i < c->nr_items; i++) {
		if (is_quiet(&c->items[i])) {
			quiet++;
			continue;
		}
		fill(&l, &c->items[i]);
		grid_add_line(&g);
		for (k = 0; k < COLUMNS; k++)
			grid_set(&g, k, "%s", l.cell[k]);
	}
	grid_print(&g, WIDTH, out);
	grid_release(&g);
	if (quiet)
		fprintf(out, "%zu figures of steps: no difference shown\n",
			quiet);
}

/* Where the intervals are from: once each. */
static void print_bases(const struct comparison *c, FILE *out)
{
	static const char *const texts[] = {
		[BASIS_NONE] =
			"a single run whose series has no such figure, or is "
			"too short, gives no interval: its ratio may be "
			"chance; repeat the run",
		[BASIS_RUNS] = "intervals are from repeated runs",
		[BASIS_SERIES] =
			"intervals of single runs are from their series: how "
			"much one run varies, not how much runs differ; "
			"repeats tell more",
		[BASIS_EXACT] = "figures without chance in them (virtual time "
				"and one seed, or published) are taken as "
				"exact",
	};
	bool seen[4] = {false};
	size_t i;

	for (i = 0; i < c->nr_items; i++) {
		if (c->items[i].has_a)
			seen[c->items[i].a.basis] = true;
		if (c->items[i].has_b)
			seen[c->items[i].b.basis] = true;
	}
	for (i = 0; i < 4; i++)
		if (seen[i])
			fprintf(out, "note: %s\n", texts[i]);
}

static void print_gate(const struct comparison *c, FILE *out)
{
	size_t n = comparison_failures(c);

	if (c->max_regress < 0)
		return;
	if (comparison_unjudged(c))
		fprintf(out,
			"gate: latencies that have no interval and were not "
			"judged: %zu; repeat the runs\n",
			comparison_unjudged(c));
	if (n)
		fprintf(out,
			"gate: FAILED: %zu figure%s worse by more than %g %%, "
			"or gone\n",
			n, n == 1 ? "" : "s", c->max_regress * 100);
	else
		fprintf(out,
			"gate: passed: nothing is shown to be worse by more "
			"than %g %%\n",
			c->max_regress * 100);
}

void compare_print(const struct comparison *c, FILE *out)
{
	char name[1024];
	size_t i;

	text_clean(name, sizeof(name), c->a);
	fprintf(out, "A  %s\n", name);
	text_clean(name, sizeof(name), c->b);
	fprintf(out, "B  %s\n\n", name);
	print_table(c, out);
	fputc('\n', out);
	if (c->nr_curves) {
		compare_curves_print(c, WIDTH, out);
		fputc('\n', out);
	}
	print_bases(c, out);
	for (i = 0; i < c->nr_notes; i++)
		fprintf(out, "warning: %s\n", c->notes[i]);
	print_gate(c, out);
}

/* --- JUnit --- */

static void put_case(const struct comparison_item *item, FILE *out)
{
	struct line l;

	fill(&l, item);
	fputs("    <testcase classname=\"", out);
	text_put_xml(out, item->label);
	fprintf(out, "\" name=\"%s\">", metrics[item->metric].title);
	if (item->fails)
		fprintf(out,
			"<failure type=\"regression\" message=\"%s: A %s, B "
			"%s, B/A %s, 95 %% interval %s\"/>",
			verdict_names[item->verdict], l.cell[2], l.cell[3],
			l.cell[4], l.cell[5]);
	else if (item->verdict >= VERDICT_NO_INTERVAL)
		fprintf(out, "<skipped message=\"%s: A %s, B %s\"/>",
			verdict_names[item->verdict], l.cell[2], l.cell[3]);
	else
		fprintf(out,
			"<system-out>%s: A %s, B %s, B/A %s, 95 %% interval "
			"%s</system-out>",
			verdict_names[item->verdict], l.cell[2], l.cell[3],
			l.cell[4], l.cell[5]);
	fputs("</testcase>\n", out);
}

static void put_curves(const struct comparison *c, FILE *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *lines = open_memstream(&text, &size);

	if (!lines)
		return;
	compare_curves_print(c, WIDTH, lines);
	if (!fclose(lines))
		text_put_xml(out, text);
	free(text);
}

static void put_suite(const struct comparison *c, FILE *out)
{
	size_t i, skipped = 0;

	for (i = 0; i < c->nr_items; i++)
		skipped += !c->items[i].fails &&
			   c->items[i].verdict >= VERDICT_NO_INTERVAL;
	fputs("  <testsuite name=\"", out);
	text_put_xml(out, c->b);
	fputs(" against ", out);
	text_put_xml(out, c->a);
	fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
		c->nr_items, comparison_failures(c), skipped);
	for (i = 0; i < c->nr_items; i++)
		put_case(&c->items[i], out);
	fputs("    <system-out>", out);
	put_curves(c, out);
	for (i = 0; i < c->nr_notes; i++) {
		fputs("warning: ", out);
		text_put_xml(out, c->notes[i]);
		fputc('\n', out);
	}
	fputs("</system-out>\n  </testsuite>\n", out);
}

void compare_put_junit(const struct comparison *c, size_t nr, FILE *out)
{
	size_t i;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<testsuites name=\"lunbench compare\">\n",
	      out);
	for (i = 0; i < nr; i++)
		put_suite(&c[i], out);
	fputs("</testsuites>\n", out);
}
