#include "report/bottlenecks.h"

#include <stdio.h>
#include <string.h>

#include "report/table_parts.h"
#include "report/text.h"

static const json_t *verdict_of(const json_t *row)
{
	return json_object_get(row, "bottleneck");
}

static bool is_like(const json_t *a, const json_t *b)
{
	return verdict_of(a) && verdict_of(b) &&
	       !strcmp(text_of(a, "name"), text_of(b, "name")) &&
	       !strcmp(text_of(verdict_of(a), "what"),
		       text_of(verdict_of(b), "what"));
}

static bool was_told(const json_t *rows, size_t at)
{
	const json_t *row = json_array_get(rows, at);
	size_t i;

	for (i = 0; i < at; i++)
		if (is_like(json_array_get(rows, i), row))
			return true;
	return false;
}

static void set_title(struct bottleneck_line *l, const json_t *first,
		      json_int_t least, json_int_t most)
{
	char clients[64] = "", times[32] = "";

	if (most > least)
		snprintf(clients, sizeof(clients), ", %lld to %lld clients",
			 (long long)least, (long long)most);
	else if (most > 0)
		snprintf(clients, sizeof(clients), ", %lld client%s",
			 (long long)most, most == 1 ? "" : "s");
	else if (l->rows > 1)
		snprintf(times, sizeof(times), " (%zu times)", l->rows);
	snprintf(l->title, sizeof(l->title), "%.100s%s%s",
		 text_of(first, "name"), clients, times);
}

static void fill(struct bottleneck_line *l, const json_t *rows, size_t at)
{
	const json_t *first = json_array_get(rows, at), *row, *last = first;
	json_int_t least = int_of(first, "step_clients"), most = least, clients;
	size_t i;

	l->rows = 0;
	for (i = at; i < json_array_size(rows); i++) {
		row = json_array_get(rows, i);
		if (!is_like(first, row))
			continue;
		clients = int_of(row, "step_clients");
		least = clients < least ? clients : least;
		most = clients > most ? clients : most;
		l->rows++;
		last = row;
	}
	l->what = text_of(verdict_of(last), "what");
	l->why = text_of(verdict_of(last), "why");
	set_title(l, first, least, most);
}

bool bottleneck_next(const json_t *rows, size_t *at, struct bottleneck_line *l)
{
	for (; *at < json_array_size(rows); ++*at) {
		if (!verdict_of(json_array_get(rows, *at)) ||
		    was_told(rows, *at))
			continue;
		fill(l, rows, (*at)++);
		return true;
	}
	return false;
}

void table_print_bottlenecks(const json_t *rows, int width, FILE *out)
{
	enum { LINES_MOST = 24 };
	struct bottleneck_line l;
	size_t at = 0, told = 0;
	char text[1024];

	while (bottleneck_next(rows, &at, &l)) {
		if (!told)
			fputc('\n', out);
		if (told++ >= LINES_MOST)
			continue;
		snprintf(text, sizeof(text), "%s: %s: %s", l.title,
			 *l.what ? l.what : "not known", l.why);
		text_put_wrapped(out, "limit   ", text, width);
	}
	if (told > LINES_MOST)
		fprintf(out,
			"limit   and %zu more, in lunbench.rows of the "
			"result\n",
			told - LINES_MOST);
}
