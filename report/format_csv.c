#include <string.h>

#include "report/formats.h"
#include "report/text.h"

/* RFC 4180 but for the line ends, one line a point. Spreadsheets take a cell
 * that begins with = + - @ for a formula, also in quotes; the names are from
 * elsewhere, so those get an apostrophe in front. */
static void put_text_cell(FILE *out, const char *text)
{
	fputc('"', out);
	if (*text && strchr("=+-@\t\r", *text))
		fputc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputs("\",", out);
}

static void put_number(FILE *out, const json_t *o, const char *key,
		       const char *end)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_integer(v))
		fprintf(out, "%lld", (long long)json_integer_value(v));
	else if (json_is_number(v))
		fprintf(out, "%.10g", json_number_value(v));
	fputs(end, out);
}

/* The mean size, where something was moved. */
static void put_block(const struct point *p, FILE *out)
{
	double ios = number_of(p->data, "ios"),
	       bytes = number_of(p->data, "bytes");

	if (ios > 0 && bytes > 0)
		fprintf(out, "%.10g", bytes / ios);
	fputc(',', out);
}

static const char heading[] =
	"result,start_time,end,url,array,job,row,row_index,op,clients,"
	"total_depth,step_clients,repeat,block_bytes,ios,bytes,errors,"
	"bytes_per_s,ios_per_s,"
	"latency_of,mean_ns,"
	"p50_ns,p99_ns,p99_9_ns,max_ns,user_ns_per_io,system_ns_per_io\n";

static void put_point(const struct point *p, FILE *out)
{
	const json_t *own = json_object_get(p->file->doc, "lunbench");
	const json_t *latency = json_object_get(p->data, "latency");
	bool has_run = json_is_true(json_object_get(p->row, "has_run"));
	const json_t *data, *cpu, *fairness;

	put_text_cell(out, p->file->path);
	put_text_cell(out, text_of(json_object_get(own, "host"), "start_time"));
	put_text_cell(out, text_of(json_object_get(own, "run"), "end"));
	put_text_cell(out, text_of(own, "url"));
	put_text_cell(out, p->array);
	put_text_cell(out, p->test);
	put_text_cell(out, p->name);
	fprintf(out, "%zu,%s,", p->row_index, op_name(p->op));
	/* Of a row that never ran nothing is known, and 0 would be a figure. */
	data = has_run ? p->data : NULL;
	cpu = has_run ? json_object_get(p->row, "cpu") : NULL;
	fairness = has_run ? json_object_get(p->row, "fairness") : NULL;
	put_number(out, fairness, "clients", ",");
	put_number(out, p->row, "total_depth", ",");
	put_number(out, p->row, "step_clients", ",");
	fprintf(out, "%u,", p->repeat);
	put_block(p, out);
	put_number(out, data, "ios", ",");
	put_number(out, data, "bytes", ",");
	put_number(out, data, "errors", ",");
	put_number(out, data, "bytes_per_s", ",");
	put_number(out, data, "ios_per_s", ",");
	put_text_cell(out, text_of(latency, "of"));
	put_number(out, latency, "mean_ns", ",");
	put_number(out, latency, "p50_ns", ",");
	put_number(out, latency, "p99_ns", ",");
	put_number(out, latency, "p99_9_ns", ",");
	put_number(out, latency, "max_ns", ",");
	put_number(out, cpu, "user_ns_per_io", ",");
	put_number(out, cpu, "system_ns_per_io", "\n");
}

static int write_csv(const struct set *s, const struct comparison *beside,
		     FILE *out, struct err *e)
{
	size_t i;

	(void)beside;
	(void)e;
	fputs(heading, out);
	for (i = 0; i < s->nr_points; i++)
		put_point(&s->points[i], out);
	return 0;
}

const struct format format_csv = {.name = "csv", .write = write_csv};
