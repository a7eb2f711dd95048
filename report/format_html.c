#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/formats.h"
#include "report/page.h"
#include "report/text.h"

/* The page's style and script, as they are in the source, in the program. */
#define EMBED(name, path)                         \
	__asm__(".section .rodata\n"              \
		".global " #name "\n" #name ":\n" \
		".incbin \"" path "\"\n"          \
		".byte 0\n"                       \
		".previous\n");                   \
	extern const char name[]

EMBED(page_css, "report/page.css");
EMBED(page_js, "report/page.js");

/* Debian's libjs-chart.js; LUNBENCH_CHART_JS names another place. */
static const char chart_js[] = "/usr/share/javascript/chart.js/chart.min.js";

#define CHART_BYTES_MAX ((size_t)16 << 20)

static int read_chart_js(char **text, struct err *e)
{
	const char *path = getenv("LUNBENCH_CHART_JS");
	struct err why = {0};
	size_t len;

	if (!path || !*path)
		path = chart_js;
	if (file_read(path, CHART_BYTES_MAX, text, &len, &why))
		return err_set(e, -EOPNOTSUPP,
			       "a page needs Chart.js, and %.200s; install it: "
			       "apt-get install libjs-chart.js (or name its "
			       "file in LUNBENCH_CHART_JS)",
			       why.text);
	/* It would end the script that it stands in. */
	if (strcasestr(*text, "</script") || strlen(*text) != len)
		return err_set(e, -EINVAL,
			       "\"%s\" is not a script that can stand in a "
			       "page; name Chart.js's chart.min.js",
			       path);
	return 0;
}

/* --- the frame --- */

static void put_head(const struct set *s, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\">\n"
	      /* Nothing may be loaded from anywhere, whatever a name says. */
	      "<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src 'unsafe-inline'; "
	      "script-src 'unsafe-inline'\">\n<title>lunbench: ",
	      out);
	text_put_xml(out, s->name);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n",
		page_css);
}

/* The first start among the results. */
static const char *start_of(const struct set *s)
{
	const char *first = "", *start;
	size_t i;

	for (i = 0; i < s->nr_files; i++) {
		start = text_of(json_object_get(json_object_get(s->files[i].doc,
								"lunbench"),
						"host"),
				"start_time");
		if (!*first || (*start && strcmp(start, first) < 0))
			first = start;
	}
	return first;
}

static void put_list(FILE *out, const char *what,
		     const struct point *const *points, size_t nr,
		     bool of_arrays)
{
	size_t i;

	if (!nr)
		return;
	fprintf(out, "<div><dt>%s</dt><dd>", what);
	for (i = 0; i < nr; i++) {
		fputs(i ? ", " : "", out);
		text_put_xml(out, of_arrays ? page_array(points[i])
					    : page_test(points[i]));
	}
	fputs("</dd></div>\n", out);
}

static void put_title(const struct page *g, FILE *out)
{
	const struct layout *l = &g->layout;
	char start[17];

	snprintf(start, sizeof(start), "%s", start_of(g->set));
	if (strlen(start) > 10)
		start[10] = ' ';
	fputs("<header>\n<p class=\"kicker\">lunbench report</p>\n<h1>", out);
	text_put_xml(out, g->set->name);
	fputs("</h1>\n<dl class=\"about\">\n", out);
	put_list(out, l->nr_arrays == 1 ? "array" : "arrays",
		 (const struct point *const *)l->arrays, l->nr_arrays, true);
	put_list(out, l->nr_tests == 1 ? "job" : "jobs",
		 (const struct point *const *)l->tests, l->nr_tests, false);
	fprintf(out, "<div><dt>results</dt><dd>%zu</dd></div>\n",
		g->set->nr_files);
	fputs("<div><dt>measured</dt><dd>", out);
	text_put_xml(out, start);
	fprintf(out,
		" UTC</dd></div>\n<div><dt>lunbench</dt><dd>%s</dd></div>"
		"\n</dl>\n</header>\n",
		LUNBENCH_VERSION);
}

static void put_contents(const struct page *g, FILE *out)
{
	const json_t *pair;
	size_t i;

	fputs("<nav aria-label=\"Contents\"><ul>\n", out);
	for (i = 0; i < json_array_size(g->headings); i++) {
		pair = json_array_get(g->headings, i);
		fprintf(out, "<li><a href=\"#%s\">%s</a></li>\n",
			json_string_value(json_array_get(pair, 0)),
			json_string_value(json_array_get(pair, 1)));
	}
	fputs("</ul></nav>\n", out);
}

/* As JSON may stand in a script: "<" could end it. */
static int put_data(const json_t *data, FILE *out, struct err *e)
{
	char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(17)),
	     *c;

	if (!text)
		return err_set(e, -ENOMEM, "no memory for the charts");
	fputs("<script type=\"application/json\" id=\"data\">", out);
	for (c = text; *c; c++) {
		if (*c == '<')
			fputs("\\u003c", out);
		else
			fputc(*c, out);
	}
	fputs("</script>\n", out);
	free(text);
	return 0;
}

/* --- the page --- */

static void put_sections(struct page *g)
{
	page_heading(g, "summary", "Summary");
	page_put_summary(g);
	page_put_curves(g);
	page_put_steady(g);
	page_put_bars(g);
	page_put_tests(g);
	page_put_copies(g);
	page_put_figures(g);
	page_put_latency(g);
	page_put_series(g);
	page_put_limits(g);
	page_put_warnings(g);
	page_put_departures(g);
	page_put_configuration(g);
}

/* The sections come first, for the contents above them name those that are
 * there. */
static int put_page(struct page *g, const char *chart, FILE *out)
{
	char *body = NULL;
	size_t size = 0;
	int err;

	g->out = open_memstream(&body, &size);
	if (!g->out)
		return err_set(g->e, -ENOMEM, "no memory for the page");
	put_sections(g);
	if (fclose(g->out) || g->put.failed) {
		free(body);
		return err_set(g->e, -ENOMEM, "no memory for the page");
	}
	put_head(g->set, out);
	put_title(g, out);
	put_contents(g, out);
	fprintf(out, "<main>\n%s</main>\n", body);
	free(body);
	err = put_data(g->charts, out, g->e);
	fprintf(out,
		"<script>\n%s</script>\n<script>\n%s</script>\n"
		"</body>\n</html>\n",
		chart, page_js);
	return err ? err : g->err;
}

static int write_html(const struct set *s, const struct comparison *beside,
		      FILE *out, struct err *e)
{
	struct page g = {.set = s,
			 .beside = beside,
			 .e = e,
			 .charts = json_array(),
			 .headings = json_array()};
	char *chart = NULL;
	int err;

	err = read_chart_js(&chart, e);
	if (!err)
		err = layout_of(&g.layout, s, e);
	if (!err)
		err = curves_of(&g.curves, s, true, e);
	if (!err)
		err = put_page(&g, chart, out);
	curves_release(&g.curves);
	layout_release(&g.layout);
	json_decref(g.charts);
	json_decref(g.headings);
	free(chart);
	return err;
}

const struct format format_html = {.name = "html", .write = write_html};
