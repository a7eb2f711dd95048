#include "report/layout.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"

/* --- places --- */

size_t layout_array(const struct layout *l, const struct point *p)
{
	size_t i;

	for (i = 0; i < l->nr_arrays; i++)
		if (!strcmp(l->arrays[i]->array, p->array))
			break;
	return i;
}

static size_t place_of_array(struct layout *l, const struct point *p)
{
	size_t i = layout_array(l, p);

	if (i == l->nr_arrays)
		l->arrays[l->nr_arrays++] = p;
	return i;
}

static size_t place_of_test(struct layout *l, const struct point *p)
{
	size_t i;

	for (i = 0; i < l->nr_tests; i++)
		if (!strcmp(l->tests[i]->test, p->test))
			return i;
	l->tests[l->nr_tests] = p;
	return l->nr_tests++;
}

static bool is_row(const struct point *a, const struct point *b)
{
	int length = point_stem(a);

	return a->nth == b->nth && a->step == b->step &&
	       length == point_stem(b) &&
	       !strncmp(a->name, b->name, (size_t)length) &&
	       !strcmp(a->test, b->test);
}

static size_t place_of_row(struct layout *l, const struct point *p)
{
	size_t i;

	for (i = 0; i < l->nr_rows; i++)
		if (is_row(l->rows[i].point, p))
			return i;
	l->rows[l->nr_rows] =
		(struct layout_row){.point = p, .test = place_of_test(l, p)};
	return l->nr_rows++;
}

/* --- cells --- */

static void fill(struct layout *l, const struct set *s)
{
	const struct point **to = l->points, *p;
	struct cell *c;
	size_t i;

	for (i = 0; i < l->figures.nr; i++) {
		c = &l->cells[l->nr++];
		c->figure = &l->figures.list[i];
		c->points = to;
		for (p = c->figure->point; p < s->points + s->nr_points; p++)
			if (point_is_repeat_of(p, c->figure->point))
				*to++ = p;
		c->nr = c->figure->nr_points;
		c->array = place_of_array(l, c->figure->point);
		c->row = place_of_row(l, c->figure->point);
	}
}

int layout_of(struct layout *l, const struct set *s, struct err *e)
{
	size_t most = s->nr_points + 1;
	int err;

	memset(l, 0, sizeof(*l));
	err = figures_of(&l->figures, s, e);
	if (err)
		return err;
	l->cells = calloc(most, sizeof(*l->cells));
	l->points = calloc(most, sizeof(*l->points));
	l->arrays = calloc(most, sizeof(*l->arrays));
	l->tests = calloc(most, sizeof(*l->tests));
	l->rows = calloc(most, sizeof(*l->rows));
	if (!l->cells || !l->points || !l->arrays || !l->tests || !l->rows) {
		layout_release(l);
		return err_set(e, -ENOMEM, "no memory for the figures");
	}
	fill(l, s);
	return 0;
}

void layout_release(struct layout *l)
{
	figures_release(&l->figures);
	free(l->cells);
	free(l->points);
	free(l->arrays);
	free(l->tests);
	free(l->rows);
	memset(l, 0, sizeof(*l));
}

const struct cell *layout_find(const struct layout *l, size_t array, size_t row,
			       enum io_op op)
{
	const struct cell *c;

	for (c = l->cells; c < l->cells + l->nr; c++)
		if (c->row == row && c->array == array &&
		    c->figure->point->op == op)
			return c;
	return NULL;
}

bool layout_has(const struct layout *l, size_t array, size_t test)
{
	const struct cell *c;

	for (c = l->cells; c < l->cells + l->nr; c++)
		if (c->array == array && l->rows[c->row].test == test)
			return true;
	return false;
}

char *layout_row_name(const struct layout_row *r, char *buf, size_t size)
{
	const struct point *p = r->point;
	char text[512], nth[32] = "", clients[32] = "";

	if (p->step)
		snprintf(clients, sizeof(clients), ", %u client%s", p->step,
			 p->step == 1 ? "" : "s");
	if (p->nth)
		snprintf(nth, sizeof(nth), " #%zu", p->nth + 1);
	snprintf(text, sizeof(text), "%.*s%s%s",
		 point_stem(p) < 200 ? point_stem(p) : 200, p->name, nth,
		 clients);
	text_clean(buf, size, text);
	return buf;
}

const char *layout_view(const struct layout_row *r)
{
	const char *prepare = point_setting(r->point, "prepare");

	if (prepare && !strcmp(prepare, "1"))
		return "prepare";
	return r->point->step ? "sweep" : r->point->view;
}

/* --- values --- */

static bool is_measured(const struct point *p)
{
	return int_of(p->data, "ios") > 0;
}

size_t cell_measured(const struct cell *c)
{
	size_t n = 0, i;

	for (i = 0; i < c->nr; i++)
		n += is_measured(c->points[i]);
	return n;
}

json_int_t cell_sum(const struct cell *c, const char *key)
{
	json_int_t sum = 0;
	size_t i;

	for (i = 0; i < c->nr; i++)
		sum += int_of(c->points[i]->data, key);
	return sum;
}

bool cell_latency(const struct cell *c, const char *key, double *ns)
{
	bool is_max = !strcmp(key, "max_ns");
	double sum = 0, value;
	size_t n = 0, i;

	for (i = 0; i < c->nr; i++) {
		const json_t *v = json_object_get(
			json_object_get(c->points[i]->data, "latency"), key);

		if (!json_is_number(v) || !is_measured(c->points[i]))
			continue;
		value = json_number_value(v);
		sum = is_max ? fmax(sum, value) : sum + value;
		n++;
	}
	*ns = n && !is_max ? sum / (double)n : sum;
	return n > 0;
}

bool cell_cpu(const struct cell *c, double *ns)
{
	const json_t *cpu;
	size_t n = 0, i;

	*ns = 0;
	for (i = 0; i < c->nr; i++) {
		cpu = json_object_get(c->points[i]->row, "cpu");
		if (!json_is_object(cpu) || !is_measured(c->points[i]))
			continue;
		*ns += number_of(cpu, "user_ns_per_io") +
		       number_of(cpu, "system_ns_per_io");
		n++;
	}
	if (n)
		*ns /= (double)n;
	return n > 0;
}

int cell_bins(const struct cell *c, struct bins *b, struct err *e)
{
	size_t i;
	int err = 0;

	*b = (struct bins){0};
	for (i = 0; i < c->nr && !err; i++)
		err = bins_add(b, c->points[i], e);
	return err;
}

const char *cell_failure(const struct cell *c)
{
	const struct point *p = c->figure->point;
	const json_t *run = json_object_get(
		json_object_get(p->file->doc, "lunbench"), "run");
	const char *why = text_of(p->row, "error");

	if (cell_measured(c))
		return "";
	if (!*why)
		why = text_of(json_object_get(run, "error"), "text");
	if (*why)
		return why;
	return strcmp(text_of(run, "end"), "interrupted") != 0
		       ? "nothing was measured"
		       : "the run was interrupted before";
}
