#include "report/plan_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/text.h"

/* Settings that change neither what is asked nor how hard. Those of ours say
 * how often, or are seen in the clients: of a sweep its steps are compared, not
 * the list of them. */
static const char *const immaterial[] = {
	"name",	     "description",	"filename",
	"directory", "randseed",	"randrepeat",
	"ioengine",  "group_reporting", "direct",
	"thread",    "percentile_list", "repeats",
	"until",     "misfit",		"view",
	"departs",   "clients",		"fit",
};

static bool is_immaterial(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(immaterial) / sizeof(immaterial[0]); i++)
		if (!strcmp(key, immaterial[i]))
			return true;
	return false;
}

static const json_t *own_of(const struct point *p)
{
	return json_object_get(p->file->doc, "lunbench");
}

static void put_value_text(char *buf, size_t size, const char *value)
{
	char clean[100];

	if (!value) {
		snprintf(buf, size, "not set");
		return;
	}
	text_clean(clean, sizeof(clean), value);
	snprintf(buf, size, "\"%s\"", clean);
}

static bool say_texts(char *what, size_t size, const char *key, const char *a,
		      const char *b)
{
	char name[64], ta[128], tb[128];

	text_clean(name, sizeof(name), key);
	put_value_text(ta, sizeof(ta), a);
	put_value_text(tb, sizeof(tb), b);
	snprintf(what, size, "%s is %s and %s", name, ta, tb);
	return true;
}

/* Those that are in @keys, looked up in both. */
static bool settings_differ(const struct point *a, const struct point *b,
			    const json_t *keys, char *what, size_t size)
{
	const char *key, *va, *vb;
	json_t *v;

	json_object_foreach((json_t *)keys, key, v)
	{
		if (is_immaterial(key))
			continue;
		va = point_setting(a, key);
		vb = point_setting(b, key);
		if (!va != !vb || (va && strcmp(va, vb) != 0))
			return say_texts(what, size, key, va, vb);
	}
	return false;
}

static bool any_setting_differs(const struct point *a, const struct point *b,
				char *what, size_t size)
{
	const struct point *const both[] = {a, b};
	const json_t *job;
	size_t i;

	for (i = 0; i < 2; i++) {
		job = json_array_get(
			json_object_get(both[i]->file->doc, "jobs"),
			both[i]->row_index);
		if (settings_differ(a, b, json_object_get(job, "job options"),
				    what, size) ||
		    settings_differ(a, b,
				    json_object_get(both[i]->file->doc,
						    "global options"),
				    what, size))
			return true;
	}
	return false;
}

static bool ints_differ(const json_t *a, const json_t *b, const char *key,
			const char *title, char *what, size_t size)
{
	const json_t *va = json_object_get(a, key);
	const json_t *vb = json_object_get(b, key);

	if (!json_is_integer(va) && !json_is_integer(vb))
		return false;
	if (json_is_integer(va) && json_is_integer(vb) &&
	    json_integer_value(va) == json_integer_value(vb))
		return false;
	snprintf(what, size, "%s is %lld and %lld", title,
		 (long long)int_of(a, key), (long long)int_of(b, key));
	return true;
}

/* The next client of the row from *i on; NULL after the last. */
static const json_t *next_client(const struct point *p, size_t *i)
{
	const json_t *clients =
		json_object_get(json_object_get(own_of(p), "plan"), "clients");
	const json_t *c;

	while (*i < json_array_size(clients)) {
		c = json_array_get(clients, (*i)++);
		if (int_of(c, "row") == (json_int_t)p->row_index)
			return c;
	}
	return NULL;
}

static bool is_relative(const struct point *p)
{
	const char *size = point_setting(p, "size");

	return !size || strchr(size, '%');
}

/* Regions that are a share of LUNs of unlike sizes: what to do about it. */
static void add_hint(const struct point *a, const struct point *b, char *what,
		     size_t size)
{
	const json_t *la = json_object_get(own_of(a), "lun"),
		     *lb = json_object_get(own_of(b), "lun");
	json_int_t bytes_a = int_of(la, "bytes"), bytes_b = int_of(lb, "bytes");
	size_t used = strlen(what);
	char ta[32], tb[32];

	if (bytes_a == bytes_b || !is_relative(a) || !is_relative(b))
		return;
	snprintf(what + used, size - used,
		 ": a share of LUNs of %s and %s; a size= that both have makes "
		 "them equal",
		 units_bytes(ta, sizeof(ta), bytes_a),
		 units_bytes(tb, sizeof(tb), bytes_b));
}

static bool clients_differ(const struct point *a, const struct point *b,
			   char *what, size_t size)
{
	static const char *const keys[][2] = {
		{"offset_bytes", "the first byte of a client's region"},
		{"length_bytes", "the length of a client's region"},
		{"io_bytes", "a client's amount"},
		{"number_ios", "a client's number of I/Os"},
	};
	size_t nr, k, ia = 0, ib = 0;
	const json_t *ca, *cb;

	for (nr = 0;; nr++) {
		ca = next_client(a, &ia);
		cb = next_client(b, &ib);
		if (!ca && !cb)
			return false;
		if (!ca || !cb) {
			snprintf(what, size, "one has more than %zu client%s",
				 nr, nr == 1 ? "" : "s");
			return true;
		}
		for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			if (!ints_differ(ca, cb, keys[k][0], keys[k][1], what,
					 size))
				continue;
			add_hint(a, b, what, size);
			return true;
		}
	}
}

/* The next row from *i on that ran beside @p; "" after the last. */
static const char *next_beside(const struct point *p, size_t *i)
{
	const json_t *rows = json_object_get(own_of(p), "rows"), *row;

	for (; *i < json_array_size(rows); (*i)++) {
		row = json_array_get(rows, *i);
		if (*i != p->row_index &&
		    int_of(row, "group") == int_of(p->row, "group"))
			return text_of(json_array_get(rows, (*i)++), "name");
	}
	return "";
}

static bool company_differs(const struct point *a, const struct point *b,
			    char *what, size_t size)
{
	size_t ia = 0, ib = 0;
	const char *na, *nb;

	do {
		na = next_beside(a, &ia);
		nb = next_beside(b, &ib);
		if (strcmp(na, nb) != 0)
			return say_texts(what, size,
					 "what runs at the same time",
					 *na ? na : NULL, *nb ? nb : NULL);
	} while (*na);
	return false;
}

static bool quick_differs(const struct point *a, const struct point *b,
			  char *what, size_t size)
{
	bool qa = json_is_true(json_object_get(own_of(a), "quick"));
	bool qb = json_is_true(json_object_get(own_of(b), "quick"));

	if (qa != qb)
		snprintf(what, size, "one is of a run with --quick");
	return qa != qb;
}

bool plan_differs(const struct point *a, const struct point *b, char *what,
		  size_t size)
{
	return quick_differs(a, b, what, size) ||
	       any_setting_differs(a, b, what, size) ||
	       ints_differ(json_object_get(own_of(a), "lun"),
			   json_object_get(own_of(b), "lun"), "block_bytes",
			   "the LUN's block size", what, size) ||
	       clients_differ(a, b, what, size) ||
	       company_differs(a, b, what, size);
}
