#include "report/page.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/units.h"
#include "report/text.h"

/* --- HTML --- */

void page_text(struct page *g, const char *text)
{
	text_put_xml(g->out, text);
}

void page_format(struct page *g, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(g->out, fmt, ap);
	va_end(ap);
}

void page_heading(struct page *g, const char *id, const char *title)
{
	json_t *pair = put_array(&g->put, g->headings, NULL);

	put_text(&g->put, pair, NULL, id);
	put_text(&g->put, pair, NULL, title);
	page_format(g, "<h2 id=\"%s\">%s</h2>\n", id, title);
}

void page_table(struct page *g, const char *class, const char *caption)
{
	/* What scrolls must be reachable by keyboard, and have a name. */
	page_format(g, "<div class=\"scroll\" tabindex=\"0\" "
		       "role=\"region\" aria-label=\"");
	page_text(g, caption);
	page_format(g, "\"><table class=\"%s\">\n<caption>", class);
	page_text(g, caption);
	page_format(g, "</caption>\n");
}

void page_table_end(struct page *g)
{
	page_format(g, "</tbody></table></div>\n");
}

void page_cell(struct page *g, double value, const char *text)
{
	page_format(g, "<td data-value=\"%.17g\">%s</td>", value, text);
}

void page_number_cell(struct page *g, const char *fmt, double value)
{
	char text[64];

	snprintf(text, sizeof(text), fmt, value);
	page_cell(g, value, text);
}

void page_text_cell(struct page *g, const char *text)
{
	page_format(g, "<td class=\"text\">");
	page_text(g, text);
	page_format(g, "</td>");
}

void page_empty_cell(struct page *g)
{
	page_format(g, "<td class=\"none\">&ndash;</td>");
}

void page_mean_cell(struct page *g, enum metric m, double mean, double half)
{
	char value[64], error[64], text[160];

	metric_text(m, mean, value, sizeof(value));
	if (!(half > 0)) {
		page_cell(g, mean, value);
		return;
	}
	metric_text(m, half, error, sizeof(error));
	snprintf(text, sizeof(text), "%s <small>&plusmn; %s</small>", value,
		 error);
	page_cell(g, mean, text);
}

void page_metric_cell(struct page *g, const struct cell *c, enum metric m)
{
	const struct spread *s = c ? &c->figure->spread[m] : NULL;

	if (s && s->n)
		page_mean_cell(g, m, s->mean, s->half);
	else
		page_empty_cell(g);
}

void page_time_cell(struct page *g, bool has, double ns)
{
	char text[64];

	if (has)
		page_cell(g, ns, units_time(text, sizeof(text), ns));
	else
		page_empty_cell(g);
}

const char *page_array(const struct point *p)
{
	const json_t *own = json_object_get(p->file->doc, "lunbench");
	const char *product = text_of(json_object_get(own, "lun"), "product");

	if (*p->array)
		return p->array;
	if (*product)
		return product;
	return *text_of(own, "transport") ? text_of(own, "transport") : "LUN";
}

const char *page_test(const struct point *p)
{
	return *p->test ? p->test : "command line";
}

/* --- charts --- */

json_t *page_chart(struct page *g, const char *kind, size_t height,
		   const char *title, const char *note)
{
	size_t n = json_array_size(g->charts);
	json_t *chart = put_object(&g->put, g->charts, NULL);

	put_text(&g->put, chart, "kind", kind);
	put_text(&g->put, chart, "title", title);
	put_array(&g->put, chart, "series");
	page_format(g, "<figure><figcaption id=\"t%zu\"><strong>", n);
	page_text(g, title);
	page_format(g, "</strong>%s%s</figcaption>\n<div class=\"chart %s\"",
		    *note ? " " : "", note, kind);
	if (height)
		page_format(g, " style=\"height:%zupx\"", height);
	page_format(g,
		    "><canvas id=\"c%zu\" role=\"img\" "
		    "aria-labelledby=\"t%zu\"></canvas></div></figure>\n",
		    n, n);
	return chart;
}

void page_axis(struct page *g, json_t *chart, const char *which,
	       const char *title, const char *unit, bool is_log)
{
	json_t *axis = put_object(&g->put, chart, which);

	put_text(&g->put, axis, "title", title);
	put_text(&g->put, axis, "unit", unit);
	put_bool(&g->put, axis, "log", is_log);
}

json_t *page_series(struct page *g, json_t *chart, const char *name,
		    size_t color)
{
	json_t *series =
		put_object(&g->put, json_object_get(chart, "series"), NULL);

	put_text(&g->put, series, "name", name);
	put_int(&g->put, series, "color", color);
	put_array(&g->put, series, "data");
	return series;
}

void page_point(struct page *g, json_t *series, double x, double y, double half)
{
	json_t *point =
		put_array(&g->put, json_object_get(series, "data"), NULL);

	put_real(&g->put, point, NULL, x);
	put_real(&g->put, point, NULL, y);
	if (!(half > 0))
		return;
	put_real(&g->put, point, NULL, fmax(0, y - half));
	put_real(&g->put, point, NULL, y + half);
}

void page_value(struct page *g, json_t *series, double value, double half)
{
	json_t *point =
		put_array(&g->put, json_object_get(series, "data"), NULL);

	put_real(&g->put, point, NULL, value);
	if (!(half > 0))
		return;
	put_real(&g->put, point, NULL, fmax(0, value - half));
	put_real(&g->put, point, NULL, value + half);
}

void page_metric(struct page *g, json_t *series, const struct cell *c,
		 enum metric m)
{
	const struct spread *s = c ? &c->figure->spread[m] : NULL;

	if (s && s->n)
		page_value(g, series, s->mean, s->half);
	else
		put_value(&g->put, json_object_get(series, "data"), NULL,
			  json_null());
}
