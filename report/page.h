#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "report/compare.h"
#include "report/curves.h"
#include "report/layout.h"
#include "report/put.h"

/*
 * The page of `report --format html` while it is written. Each section writes
 * its HTML to @out and what its charts draw to @charts, from the same figures;
 * report/page.js draws what it finds there and knows nothing of results.
 */
struct page {
	const struct set *set;
	const struct comparison *beside; /* published figures, or NULL */
	struct layout layout;
	struct curves curves;
	FILE *out;
	struct put put;
	json_t *charts;	  /* in the order of the canvases c0, c1 ... */
	json_t *headings; /* [id, title] of the sections that have something */
	struct err *e;
	int err; /* the first failure but memory's, which is in @put */
};

/* The sections, in their order. One that has nothing to say writes nothing. */
void page_put_summary(struct page *g);
void page_put_curves(struct page *g);  /* sweeps: page_curves.c */
void page_put_steady(struct page *g);  /* until=steady */
void page_put_bars(struct page *g);    /* view=bars */
void page_put_tests(struct page *g);   /* view=cdm */
void page_put_copies(struct page *g);  /* view=copy, published figures */
void page_put_figures(struct page *g); /* all of them */
void page_put_latency(struct page *g); /* percentiles */
void page_put_series(struct page *g);  /* over time, events */
void page_put_limits(struct page *g);  /* bottlenecks */
void page_put_warnings(struct page *g);
void page_put_departures(struct page *g);
void page_put_configuration(struct page *g);

/* --- pieces of HTML --- */

/* <h2 id=ID>. */
void page_heading(struct page *g, const char *id, const char *title);

/* Escaped. */
void page_text(struct page *g, const char *text);
void page_format(struct page *g, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A table that scrolls sideways in a narrow window; until page_table_end(). */
void page_table(struct page *g, const char *class, const char *caption);
void page_table_end(struct page *g);

/* A cell with the number in full, for scripts, beside its text. */
void page_cell(struct page *g, double value, const char *text);
void page_number_cell(struct page *g, const char *fmt, double value);
void page_text_cell(struct page *g, const char *text);
void page_empty_cell(struct page *g);
/* "12.3 +- 0.4", the interval of the mean where there are repeats. */
void page_mean_cell(struct page *g, enum metric m, double mean, double half);
/* The same of a figure; NULL has none. */
void page_metric_cell(struct page *g, const struct cell *c, enum metric m);
void page_time_cell(struct page *g, bool has, double ns);

/* What an array is called here: the name that its target gave, else what the
 * LUN says that it is. */
const char *page_array(const struct point *p);
/* The job's name; "command line" without. */
const char *page_test(const struct point *p);

/* "28 (26 to 32)" with the interval where there are repeats, "28 (no other)"
 * where that holds it alone; "none". */
char *page_knee(const struct curve *c, char *buf, size_t size);

/* Of the same job: they belong on one chart. */
bool page_curves_are_beside(const struct curve *a, const struct curve *b);

/* How many kinds of warnings there are; *all: how many warnings. */
size_t page_count_warnings(struct page *g, size_t *all);

/* --- charts --- */

/* The throughput of a job's rows of that view, an array a colour. */
void page_put_rates(struct page *g, size_t test, const char *view);

/* A figure with a canvas, and the object that page.js draws there (borrowed):
 * kind "lines", "bars" or "ranges". @height 0: as the style has it. */
json_t *page_chart(struct page *g, const char *kind, size_t height,
		   const char *title, const char *note);

/* An axis: "x" or "y"; @unit: "time" (ns), "percentile", or the text behind
 * numbers; @is_log. */
void page_axis(struct page *g, json_t *chart, const char *which,
	       const char *title, const char *unit, bool is_log);

/* A line, or a row of bars: its name and its colour. */
json_t *page_series(struct page *g, json_t *chart, const char *name,
		    size_t color);

/* [x, y], and [x, y, low, high] where @half > 0. To the series' data. */
void page_point(struct page *g, json_t *series, double x, double y,
		double half);
/* The same of a row of bars, without x: [value] or [value, low, high]. */
void page_value(struct page *g, json_t *series, double value, double half);
/* Of a figure, with its interval; null where there is none. */
void page_metric(struct page *g, json_t *series, const struct cell *c,
		 enum metric m);

#endif
