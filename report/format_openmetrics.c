#include <string.h>

#include "report/curves.h"
#include "report/formats.h"
#include "report/text.h"

/* OpenMetrics 1.0: each family's samples stand together, and a label set is
 * there once, which file and row's place in it see to. */

static void put_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", out);
		else if (*value == '"' || *value == '\\')
			fprintf(out, "\\%c", *value);
		else
			fputc(*value, out);
	}
	fputc('"', out);
}

/* name{labels without the closing brace */
static void begin_sample(FILE *out, const char *name, const struct point *p)
{
	fprintf(out, "%s{", name);
	put_label(out, "result", p->file->path);
	fputc(',', out);
	put_label(out, "array", p->array);
	fputc(',', out);
	put_label(out, "job", p->test);
	fputc(',', out);
	put_label(out, "row", p->name);
	fprintf(out,
		",row_index=\"%zu\",op=\"%s\",clients=\"%lld\",repeat=\"%u\"",
		p->row_index, op_name(p->op),
		(long long)int_of(json_object_get(p->row, "fairness"),
				  "clients"),
		p->repeat);
}

struct family {
	const char *name, *type, *unit, *help;
	const char *suffix; /* of its one sample */
	const char *object; /* NULL: the op itself */
	const char *key;
	double scale;
};

static const struct family families[] = {
	{"lunbench_throughput_bytes_per_second", "gauge", "bytes_per_second",
	 "Bytes a second over the window.", "", NULL, "bytes_per_s", 1},
	{"lunbench_ios_per_second", "gauge", "ios_per_second",
	 "I/Os a second over the window.", "", NULL, "ios_per_s", 1},
	{"lunbench_ios", "counter", NULL, "Counted I/Os.", "_total", NULL,
	 "ios", 1},
	{"lunbench_io_errors", "counter", NULL, "I/Os that failed.", "_total",
	 NULL, "errors", 1},
	{"lunbench_latency_mean_seconds", "gauge", "seconds", "Mean latency.",
	 "", "latency", "mean_ns", 1e-9},
	{"lunbench_latency_max_seconds", "gauge", "seconds", "Largest latency.",
	 "", "latency", "max_ns", 1e-9},
};

static void begin_family(FILE *out, const char *name, const char *type,
			 const char *unit, const char *help)
{
	fprintf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
	fprintf(out, "# HELP %s %s\n", name, help);
}

static void put_family(const struct set *s, const struct family *f, FILE *out)
{
	char name[128];
	size_t i;

	begin_family(out, f->name, f->type, f->unit, f->help);
	snprintf(name, sizeof(name), "%s%s", f->name, f->suffix);
	for (i = 0; i < s->nr_points; i++) {
		const struct point *p = &s->points[i];
		const json_t *o = f->object
					  ? json_object_get(p->data, f->object)
					  : p->data;

		if (!json_is_number(json_object_get(o, f->key)))
			continue;
		begin_sample(out, name, p);
		fprintf(out, "} %.10g\n", number_of(o, f->key) * f->scale);
	}
}

static void put_quantiles(const struct point *p, FILE *out)
{
	const json_t *latency = point_latency(p);
	const char *percent;
	json_t *ns;

	json_object_foreach(json_object_get(latency, "percentile"), percent, ns)
	{
		begin_sample(out, "lunbench_latency_seconds", p);
		fprintf(out, ",quantile=\"%g\"} %.10g\n",
			strtod(percent, NULL) / 100,
			json_number_value(ns) * 1e-9);
	}
	begin_sample(out, "lunbench_latency_seconds_count", p);
	fprintf(out, "} %lld\n", (long long)int_of(latency, "N"));
	begin_sample(out, "lunbench_latency_seconds_sum", p);
	fprintf(out, "} %.10g\n",
		number_of(latency, "mean") * (double)int_of(latency, "N") *
			1e-9);
}

static void put_latencies(const struct set *s, FILE *out)
{
	size_t i;

	begin_family(out, "lunbench_latency_seconds", "summary", "seconds",
		     "Latency: service time, or response time at a set rate.");
	for (i = 0; i < s->nr_points; i++)
		if (int_of(point_latency(&s->points[i]), "N") > 0)
			put_quantiles(&s->points[i], out);
}

/* --- sweeps, repeats pooled --- */

static void put_curve(const struct curve *c, const char *name, double value,
		      FILE *out)
{
	fprintf(out, "%s{", name);
	put_label(out, "array", c->point->array);
	fputc(',', out);
	put_label(out, "job", c->point->test);
	fputc(',', out);
	put_label(out, "row", c->point->name);
	fprintf(out, "} %.10g\n", value);
}

static int put_curves(const struct set *s, FILE *out, struct err *e)
{
	static const char knee[] = "lunbench_sweep_knee_clients";
	static const char peak[] = "lunbench_sweep_peak_bytes_per_second";
	const struct sweep *sweep;
	struct curves c;
	size_t i;
	int err = curves_of(&c, s, true, e);

	if (err)
		return err;
	begin_family(out, knee, "gauge", NULL,
		     "Smallest load within 5 percent of the peak.");
	for (i = 0; i < c.nr; i++) {
		sweep = &c.list[i].sweep;
		if (sweep->has_knee)
			put_curve(&c.list[i], knee,
				  sweep->points[sweep->knee].clients, out);
	}
	begin_family(out, peak, "gauge", "bytes_per_second",
		     "Highest mean throughput of a load, all ops.");
	for (i = 0; i < c.nr; i++) {
		sweep = &c.list[i].sweep;
		if (sweep->has_knee)
			put_curve(&c.list[i], peak,
				  sweep->points[sweep->peak].rate.mean * 1e6,
				  out);
	}
	curves_release(&c);
	return 0;
}

static void put_check(const struct result_file *f, const json_t *check,
		      FILE *out)
{
	const json_t *row = json_object_get(check, "row");

	fputs("lunbench_check_ok{", out);
	put_label(out, "result", f->path);
	fputc(',', out);
	put_label(out, "check", text_of(check, "check"));
	if (json_is_integer(row))
		fprintf(out, ",row_index=\"%lld\"",
			(long long)json_integer_value(row));
	if (*text_of(check, "op")) {
		fputc(',', out);
		put_label(out, "op", text_of(check, "op"));
	}
	fprintf(out, "} %d\n", json_is_true(json_object_get(check, "ok")));
}

static void put_results(const struct set *s, FILE *out)
{
	static const char *const keys[] = {"version", "url", "transport",
					   "seed"};
	size_t i, k;

	begin_family(out, "lunbench_result", "info", NULL, "Where from.");
	for (i = 0; i < s->nr_files; i++) {
		const json_t *own =
			json_object_get(s->files[i].doc, "lunbench");

		fputs("lunbench_result_info{", out);
		put_label(out, "result", s->files[i].path);
		for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			fputc(',', out);
			put_label(out, keys[k], text_of(own, keys[k]));
		}
		fputs("} 1\n", out);
	}
}

static int write_openmetrics(const struct set *s,
			     const struct comparison *beside, FILE *out,
			     struct err *e)
{
	size_t i, k;
	int err;

	(void)beside;
	put_results(s, out);
	for (i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		put_family(s, &families[i], out);
	put_latencies(s, out);
	err = put_curves(s, out, e);
	begin_family(out, "lunbench_check_ok", "gauge", NULL,
		     "1: this check of the result found nothing.");
	for (i = 0; i < s->nr_files; i++) {
		const json_t *checks = json_object_get(
			json_object_get(s->files[i].doc, "lunbench"), "checks");

		for (k = 0; k < json_array_size(checks); k++)
			put_check(&s->files[i], json_array_get(checks, k), out);
	}
	fputs("# EOF\n", out);
	return err;
}

const struct format format_openmetrics = {.name = "openmetrics",
					  .write = write_openmetrics};
