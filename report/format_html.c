#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "report/formats.h"
#include "report/page_data.h"
#include "report/samples.h"
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

/* --- the summary --- */

static const json_t *own_of(const struct result_file *f)
{
	return json_object_get(f->doc, "lunbench");
}

static size_t count_warnings(const struct set *s)
{
	size_t n = s->nr_warnings, i;

	for (i = 0; i < s->nr_files; i++)
		n += json_array_size(
			json_object_get(own_of(&s->files[i]), "warnings"));
	return n;
}

static size_t count_partial(const struct set *s)
{
	size_t n = 0, i;

	for (i = 0; i < s->nr_files; i++)
		n += strcmp(text_of(json_object_get(own_of(&s->files[i]),
						    "run"),
				    "end"),
			    "complete") != 0;
	return n;
}

static void put_warning(const char *from, const char *text, FILE *out)
{
	fputs("<li>", out);
	text_put_xml(out, from);
	fputs(*from ? ": " : "", out);
	text_put_xml(out, text);
	fputs("</li>\n", out);
}

static void put_warnings(const struct set *s, FILE *out)
{
	const char *text, *from;
	size_t i, k;

	fputs("<ul class=\"warnings\">\n", out);
	for (i = 0; i < s->nr_warnings; i++)
		put_warning("left out", s->warnings[i], out);
	for (i = 0; i < s->nr_files; i++) {
		const struct result_file *f = &s->files[i];
		const json_t *w = json_object_get(own_of(f), "warnings");

		from = s->nr_files > 1 ? f->path : "";
		for (k = 0; k < json_array_size(w); k++) {
			text = json_string_value(json_array_get(w, k));
			put_warning(from, text ? text : "?", out);
		}
	}
	fputs("</ul>\n", out);
}

static void put_summary(const struct set *s, FILE *out)
{
	size_t warnings = count_warnings(s), partial = count_partial(s);
	const char *class = partial ? "bad" : warnings ? "doubt" : "good";

	fputs("<header>\n<h1>", out);
	text_put_xml(out, s->name);
	fprintf(out,
		"</h1>\n<p class=\"sub\">lunbench %s, %zu result%s, %zu "
		"rows and operations</p>\n<p class=\"verdict %s\">",
		LUNBENCH_VERSION, s->nr_files, s->nr_files == 1 ? "" : "s",
		s->nr_points, class);
	if (partial)
		fprintf(out,
			"%zu of %zu runs did not come to their end: what is "
			"here is part of what was planned. ",
			partial, s->nr_files);
	else
		fputs("Every run came to its end. ", out);
	if (warnings)
		fprintf(out, "%zu warning%s.", warnings,
			warnings == 1 ? "" : "s");
	else
		fputs("No check found anything.", out);
	fputs("</p>\n", out);
	if (warnings)
		put_warnings(s, out);
	fputs("</header>\n", out);
}

/* --- the table --- */

static void put_cell(FILE *out, double value, const char *text)
{
	fprintf(out, "<td data-value=\"%.17g\">%s</td>", value, text);
}

static void put_metric(FILE *out, const struct point *p, enum metric m)
{
	char text[64];
	double value;

	if (metric_value(p, m, &value))
		put_cell(out, value, metric_text(m, value, text, sizeof(text)));
	else
		fputs("<td>-</td>", out);
}

static void put_time(FILE *out, const json_t *o, const char *key)
{
	char text[64];

	if (!json_is_number(json_object_get(o, key))) {
		fputs("<td>-</td>", out);
		return;
	}
	put_cell(out, number_of(o, key),
		 units_time(text, sizeof(text), number_of(o, key)));
}

static void put_line(const struct set *s, const struct point *p, FILE *out)
{
	const json_t *latency = json_object_get(p->data, "latency");
	json_int_t clients =
		int_of(json_object_get(p->row, "fairness"), "clients");
	json_int_t errors = int_of(p->data, "errors");
	char text[256];

	fputs("<tr><td class=\"text\">", out);
	text_put_xml(out, point_title(s, p, text, sizeof(text)));
	fprintf(out, "%s</td>", point_is_open(p) ? " *" : "");
	snprintf(text, sizeof(text), "%lld", (long long)clients);
	put_cell(out, (double)clients, text);
	snprintf(text, sizeof(text), "%lld",
		 (long long)int_of(p->row, "total_depth"));
	put_cell(out, number_of(p->row, "total_depth"), text);
	put_metric(out, p, METRIC_MB_S);
	put_metric(out, p, METRIC_IOPS);
	put_time(out, latency, "mean_ns");
	put_time(out, latency, "p50_ns");
	put_time(out, latency, "p99_ns");
	put_time(out, latency, "p99_9_ns");
	put_time(out, latency, "max_ns");
	snprintf(text, sizeof(text), "%lld", (long long)errors);
	put_cell(out, (double)errors, text);
	fputs("</tr>\n", out);
}

static void put_table(const struct set *s, FILE *out)
{
	size_t i;

	fputs("<h2>Figures</h2>\n<div class=\"scroll\"><table "
	      "id=\"figures\">\n<thead><tr><th>job</th><th>clients</th><th>QD"
	      "</th><th>MB/s</th><th>IOPS</th><th>mean</th><th>p50</th><th>p99"
	      "</th><th>p99.9</th><th>max</th><th>errors</th></tr></thead>\n"
	      "<tbody>\n",
	      out);
	for (i = 0; i < s->nr_points; i++)
		put_line(s, &s->points[i], out);
	fputs("</tbody></table></div>\n<p class=\"sub\">MB is 10^6 bytes. "
	      "Latency is service time, submitted to done; of jobs with * (at "
	      "a set rate) it is response time, due to done. QD is the total "
	      "over the clients.</p>\n",
	      out);
}

/* --- published figures --- */

static void put_beside_line(const struct comparison_item *item, FILE *out)
{
	char text[64];

	fputs("<tr><td class=\"text\">", out);
	text_put_xml(out, item->label);
	fputs("</td>", out);
	put_cell(out, item->a.estimate.mean,
		 metric_text(item->metric, item->a.estimate.mean, text,
			     sizeof(text)));
	if (item->has_b)
		put_cell(out, item->b.estimate.mean,
			 metric_text(item->metric, item->b.estimate.mean, text,
				     sizeof(text)));
	else
		fputs("<td>-</td>", out);
	snprintf(text, sizeof(text), "%.3f", item->ratio);
	put_cell(out, item->ratio, text);
	if (item->verdict < VERDICT_NO_INTERVAL)
		fprintf(out, "<td>%.3f .. %.3f</td>", item->interval.low,
			item->interval.high);
	else
		fputs("<td>-</td>", out);
	fprintf(out, "<td class=\"text\">%s</td></tr>\n",
		verdict_names[item->verdict]);
}

static void put_beside(const struct comparison *c, FILE *out)
{
	size_t i;

	fputs("<h2>Beside published figures</h2>\n<div class=\"scroll\"><table "
	      "id=\"published\">\n<thead><tr><th>volume, test, job</th>"
	      "<th>published, MB/s</th><th>here, MB/s</th><th>ratio</th>"
	      "<th>95 % interval</th><th class=\"text\">verdict</th></tr>"
	      "</thead>\n<tbody>\n",
	      out);
	for (i = 0; i < c->nr_items; i++)
		put_beside_line(&c->items[i], out);
	fputs("</tbody></table></div>\n<p class=\"sub\">Published: ", out);
	text_put_xml(out, c->a);
	fputs("</p>\n", out);
}

/* --- charts --- */

static void put_figure(FILE *out, const char *id, size_t height,
		       const char *caption)
{
	fprintf(out, "<figure><div class=\"chart\"");
	if (height)
		fprintf(out, " style=\"height:%zupx\"", height);
	fprintf(out,
		"><canvas id=\"%s\" role=\"img\" "
		"aria-label=\"%s\"></canvas></div><figcaption>%s</figcaption>"
		"</figure>\n",
		id, caption, caption);
}

static void put_figures(const struct set *s, bool has_sweeps, FILE *out)
{
	size_t height = 90 + 34 * s->nr_points;

	fputs("<h2>Charts</h2>\n", out);
	if (has_sweeps) {
		put_figure(out, "sweep_rate", 0, "Throughput against clients");
		put_figure(out, "sweep_time", 0,
			   "Mean response time against clients");
	}
	put_figure(out, "rates", height, "Throughput");
	put_figure(out, "latencies", height,
		   "Latency, mean and 99th percentile, log scale");
	put_figure(out, "percentiles", 0,
		   "Latency by percentile, both axes log scale");
	put_figure(out, "series", 0,
		   "Throughput over time by completion, ramp and drain "
		   "included; events as triangles");
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

/* --- the configuration --- */

/* "lun.bytes"; @object may be NULL. */
static void put_fact(FILE *out, const char *object, const char *key,
		     const json_t *v)
{
	char *text;

	fprintf(out, "<tr><td class=\"text\">%s%s", object ? object : "",
		object ? "." : "");
	text_put_xml(out, key);
	fputs("</td><td class=\"text\">", out);
	text = json_is_string(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY);
	text_put_xml(out, json_is_string(v) ? json_string_value(v)
			  : text	    ? text
					    : "");
	fputs("</td></tr>\n", out);
	free(text);
}

static void put_facts(FILE *out, const json_t *own, const char *object)
{
	const char *key;
	json_t *v;

	json_object_foreach(json_object_get(own, object), key, v)
	{
		put_fact(out, object, key, v);
	}
}

static void put_job(FILE *out, const struct result_file *f)
{
	const json_t *jobs = json_object_get(f->doc, "jobs");
	const char *key;
	size_t i;
	json_t *v;

	fputs("<pre>[global]\n", out);
	json_object_foreach(json_object_get(f->doc, "global options"), key, v)
	{
		text_put_xml(out, key);
		fputc('=', out);
		text_put_xml(out,
			     json_string_value(v) ? json_string_value(v) : "");
		fputc('\n', out);
	}
	for (i = 0; i < json_array_size(jobs); i++) {
		const json_t *job = json_array_get(jobs, i);

		fputs("\n[", out);
		text_put_xml(out, text_of(job, "jobname"));
		fputs("]\n", out);
		json_object_foreach(json_object_get(job, "job options"), key, v)
		{
			text_put_xml(out, key);
			fputc('=', out);
			text_put_xml(out, json_string_value(v)
						  ? json_string_value(v)
						  : "");
			fputc('\n', out);
		}
	}
	fputs("</pre>\n", out);
}

static void put_configuration(const struct set *s, FILE *out)
{
	static const char *const keys[] = {"version", "job", "url", "transport",
					   "seed"};
	static const char *const objects[] = {"lun", "session", "target",
					      "host"};
	size_t i, k;

	fputs("<h2>Configuration, to repeat it</h2>\n", out);
	for (i = 0; i < s->nr_files; i++) {
		const json_t *own = own_of(&s->files[i]);
		const json_t *run = json_object_get(own, "run");

		fprintf(out, "<details%s><summary>",
			s->nr_files == 1 ? " open" : "");
		text_put_xml(out, s->files[i].path);
		fputs("</summary>\n<table>\n", out);
		for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			put_fact(out, NULL, keys[k],
				 json_object_get(own, keys[k]));
		put_fact(out, "run", "is_virtual_time",
			 json_object_get(run, "is_virtual_time"));
		put_fact(out, "run", "end", json_object_get(run, "end"));
		for (k = 0; k < sizeof(objects) / sizeof(objects[0]); k++)
			put_facts(out, own, objects[k]);
		fputs("</table>\n", out);
		put_job(out, &s->files[i]);
		fputs("</details>\n", out);
	}
}

/* --- the page --- */

static void put_head(const struct set *s, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      /* Nothing may be loaded from anywhere, whatever a name says. */
	      "<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src 'unsafe-inline'; "
	      "script-src 'unsafe-inline'\">\n<title>lunbench: ",
	      out);
	text_put_xml(out, s->name);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n",
		page_css);
}

static int write_html(const struct set *s, const struct comparison *beside,
		      FILE *out, struct err *e)
{
	char *chart = NULL;
	json_t *data = NULL;
	int err;

	err = read_chart_js(&chart, e);
	if (!err)
		data = page_data(s, e);
	if (err || !data) {
		free(chart);
		return err ? err : e->code;
	}
	put_head(s, out);
	put_summary(s, out);
	put_table(s, out);
	if (beside)
		put_beside(beside, out);
	put_figures(s, json_array_size(json_object_get(data, "sweeps")) > 0,
		    out);
	put_configuration(s, out);
	err = put_data(data, out, e);
	fprintf(out,
		"<script>\n%s</script>\n<script>\n%s</script>\n"
		"</body>\n</html>\n",
		chart, page_js);
	json_decref(data);
	free(chart);
	return err;
}

const struct format format_html = {.name = "html", .write = write_html};
