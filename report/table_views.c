#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/grid.h"
#include "report/table_parts.h"
#include "report/text.h"
#include "workloads/options.h"

/* What a view puts on one line: the figures of one key, a column each. */
enum entry_slot { SLOT_READ, SLOT_WRITE, SLOT_MIX, SLOTS };

struct entry {
	char key[64];
	const struct figure *of[SLOTS]; /* borrowed; NULL: none */
	struct spread mix[METRICS]; /* of read and write together; p99: none */
};

struct entries {
	struct entry *list; /* owned */
	size_t nr;
};

/* "4K", "512", as benchmarks write it; what the job says where nothing of it
 * ran, or the last was cut. */
static void put_block(char *buf, size_t size, const struct point *p)
{
	const char *bs = point_setting(p, "bs");
	json_int_t ios = int_of(p->data, "ios"), bytes = 0;
	size_t i;

	if (ios > 0 && int_of(p->data, "bytes") % ios == 0)
		bytes = int_of(p->data, "bytes") / ios;
	if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
		snprintf(buf, size, "%" PRId64 "M", (int64_t)bytes >> 20);
	else if (bytes >= 1 << 10 && bytes % (1 << 10) == 0)
		snprintf(buf, size, "%" PRId64 "K", (int64_t)bytes >> 10);
	else if (bytes)
		snprintf(buf, size, "%" PRId64, (int64_t)bytes);
	else
		snprintf(buf, size, "%s", bs ? bs : "?");
	for (i = 0; buf[i]; i++)
		buf[i] = (char)toupper((unsigned char)buf[i]);
}

/* In the first entry of that key that has the place; the second figure of one
 * key has an entry, so a line, of its own. */
static struct entry *take(struct entries *all, const char *key,
			  enum entry_slot slot, const struct figure *f)
{
	struct entry *e;

	for (e = all->list; e < all->list + all->nr; e++)
		if (!strcmp(e->key, key) && !e->of[slot])
			break;
	if (e == all->list + all->nr) {
		snprintf(e->key, sizeof(e->key), "%s", key);
		all->nr++;
	}
	e->of[slot] = f;
	return e;
}

static bool has_op(const struct point *p, enum io_op op)
{
	return json_object_get(json_object_get(p->row, "ops"), op_name(op));
}

static bool is_mix(const struct point *p)
{
	return has_op(p, OP_READ) && has_op(p, OP_WRITE);
}

/* Of a row's read and write together; false where it has not both. */
static bool mix_value(const struct point *read, enum metric m, double *x)
{
	const struct point *write = read + 1;
	double r, w, r_iops, w_iops;

	if (!metric_value(read, m, &r) || !metric_value(write, m, &w) ||
	    !metric_value(read, METRIC_IOPS, &r_iops) ||
	    !metric_value(write, METRIC_IOPS, &w_iops))
		return false;
	*x = r + w;
	if (m == METRIC_MEAN) /* each I/O's */
		*x = (r * r_iops + w * w_iops) / (r_iops + w_iops);
	return true;
}

static void take_mix(struct entries *all, const char *key, const struct set *s,
		     const struct figure *f)
{
	static const enum metric of[] = {METRIC_MB_S, METRIC_IOPS, METRIC_MEAN};
	const struct point *end = s->points + s->nr_points, *p;
	double *x = calloc(f->nr_points + 1, sizeof(*x));
	struct entry *e = take(all, key, SLOT_MIX, f);
	size_t n, i;

	for (i = 0; x && i < sizeof(of) / sizeof(of[0]); i++) {
		n = 0;
		for (p = f->point; p + 1 < end; p++)
			if (point_is_repeat_of(p, f->point) &&
			    p[1].row == p->row && mix_value(p, of[i], &x[n]))
				n++;
		spread_of(&e->mix[of[i]], x, n, metrics[of[i]].more_is_better);
	}
	free(x);
}

/* --- CrystalDiskMark's table --- */

enum cdm_column {
	CDM_TEST,
	CDM_READ,
	CDM_READ_MEAN,
	CDM_WRITE,
	CDM_WRITE_MEAN,
	CDM_MIX,
	CDM_MIX_MEAN,
	CDM_COLUMNS
};

static const struct grid_column cdm_columns[CDM_COLUMNS] = {
	[CDM_TEST] = {"test", true, 0},
	[CDM_READ] = {"read best", false, 0},
	[CDM_READ_MEAN] = {"mean", false, 0},
	[CDM_WRITE] = {"write best", false, 0},
	[CDM_WRITE_MEAN] = {"mean", false, 0},
	[CDM_MIX] = {"mix best", false, 0},
	[CDM_MIX_MEAN] = {"mean", false, 0},
};

static const struct grid_column cdm_times[] = {
	{"test", true, 0},     {"read IOPS", false, 0},
	{"latency", false, 0}, {"write IOPS", false, 0},
	{"latency", false, 0}, {"mix IOPS", false, 0},
	{"latency", false, 0},
};

/* "RND4K Q32T16". */
static void put_test(char *buf, size_t size, const struct point *p)
{
	json_int_t depth = int_of(p->row, "iodepth");
	json_int_t total = int_of(p->row, "total_depth");
	const char *rw = point_setting(p, "rw");
	char block[32];

	put_block(block, sizeof(block), p);
	snprintf(buf, size, "%s%s Q%lldT%lld",
		 rw && !strncmp(rw, "rand", 4) ? "RND" : "SEQ", block,
		 (long long)depth, (long long)(depth > 0 ? total / depth : 0));
}

static bool make_tests(struct entries *all, const struct set *s,
		       const struct figures *f)
{
	const struct figure *one;
	char key[64];

	*all = (struct entries){calloc(f->nr + 1, sizeof(*all->list)), 0};
	if (!all->list)
		return false;
	for (one = f->list; one < f->list + f->nr; one++) {
		if (table_part_of(one->point->row) != PART_CDM)
			continue;
		put_test(key, sizeof(key), one->point);
		if (!is_mix(one->point) && one->point->op == OP_READ)
			take(all, key, SLOT_READ, one);
		else if (!is_mix(one->point) && one->point->op == OP_WRITE)
			take(all, key, SLOT_WRITE, one);
		else if (one->point->op == OP_READ)
			take_mix(all, key, s, one);
	}
	return true;
}

static void set_mean(struct grid *g, size_t column, const struct spread *s)
{
	int digits = s->mean >= 1000 ? 0 : s->mean >= 10 ? 1 : 2;

	if (s->n > 1)
		grid_set(g, column, "%.*f +-%.*f", digits, s->mean, digits,
			 s->half);
	else
		grid_set_rate(g, column, s->mean);
}

/* The best, and the mean beside it. */
static void set_both(struct grid *g, size_t column, const struct spread *s)
{
	if (!s->n)
		return;
	grid_set_rate(g, column, s->best);
	set_mean(g, column + 1, s);
}

static const struct spread *spread_in(const struct figure *f, enum metric m)
{
	static const struct spread none;

	return f ? &f->spread[m] : &none;
}

static const struct spread *spread_at(const struct entry *e,
				      enum entry_slot slot, enum metric m)
{
	return slot == SLOT_MIX ? &e->mix[m] : spread_in(e->of[slot], m);
}

/* No columns for what no test does; their first is @first, two a slot. */
static void hide_slots(struct grid *g, const struct entries *all, size_t first)
{
	const struct entry *e;
	size_t slot;

	for (slot = 0; slot < SLOTS; slot++) {
		for (e = all->list; e < all->list + all->nr; e++)
			if (e->of[slot])
				break;
		if (e < all->list + all->nr)
			continue;
		grid_hide(g, first + 2 * slot);
		grid_hide(g, first + 2 * slot + 1);
	}
}

static void print_rates(const struct entries *all, int width, FILE *out)
{
	const struct entry *e;
	struct grid g;
	size_t slot;

	grid_init(&g, cdm_columns, CDM_COLUMNS, true);
	hide_slots(&g, all, CDM_READ);
	for (e = all->list; e < all->list + all->nr; e++) {
		grid_add_line(&g);
		grid_set(&g, CDM_TEST, "%s", e->key);
		for (slot = 0; slot < SLOTS; slot++)
			set_both(&g, CDM_READ + 2 * slot,
				 spread_at(e, slot, METRIC_MB_S));
	}
	if (g.nr_lines)
		text_put_wrapped(out, "",
				 "MB/s: the best of the repeats, as "
				 "CrystalDiskMark shows it, and their mean "
				 "with its 95 % interval.",
				 width);
	grid_print(&g, width, out);
	grid_release(&g);
}

static void print_times(const struct entries *all, int width, FILE *out)
{
	const struct spread *s;
	const struct entry *e;
	struct grid g;
	size_t slot;

	grid_init(&g, cdm_times, sizeof(cdm_times) / sizeof(cdm_times[0]),
		  true);
	hide_slots(&g, all, 1);
	for (e = all->list; e < all->list + all->nr; e++) {
		grid_add_line(&g);
		grid_set(&g, 0, "%s", e->key);
		for (slot = 0; slot < SLOTS; slot++) {
			s = spread_at(e, slot, METRIC_IOPS);
			if (!s->n)
				continue;
			grid_set_count(&g, 1 + 2 * slot, s->best);
			s = spread_at(e, slot, METRIC_MEAN);
			grid_set_time(&g, 2 + 2 * slot, s->best);
		}
	}
	if (g.nr_lines)
		text_put_wrapped(out, "",
				 "The most IOPS and the least mean latency of "
				 "the repeats.",
				 width);
	grid_print(&g, width, out);
	grid_release(&g);
}

void table_print_cdm(const struct set *s, const struct figures *f, int width,
		     FILE *out)
{
	struct entries all;

	if (!make_tests(&all, s, f)) {
		fputs("(no memory for the table)\n", out);
		return;
	}
	print_rates(&all, width, out);
	print_times(&all, width, out);
	free(all.list);
}

/* --- copies --- */

enum copy_column {
	COPY_NAME,
	COPY_N,
	COPY_UP,
	COPY_UP_CI,
	COPY_DOWN,
	COPY_DOWN_CI,
	COPY_COLUMNS
};

static const struct grid_column copy_columns[COPY_COLUMNS] = {
	[COPY_NAME] = {"copy", true, 0},
	[COPY_N] = {"n", false, 1},
	[COPY_UP] = {"up, MB/s", false, 0},
	[COPY_UP_CI] = {"+-", false, 0},
	[COPY_DOWN] = {"down, MB/s", false, 0},
	[COPY_DOWN_CI] = {"+-", false, 0},
};

/* What two jobs of one copy have in common: their name without the direction
 * at its end; the job file's where nothing is left. */
static void put_copy(char *buf, size_t size, const struct point *p)
{
	static const char *const ends[] = {"up", "down", "write", "read"};
	size_t n = strlen(p->name), len, i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		len = strlen(ends[i]);
		if (n < len || strcmp(p->name + n - len, ends[i]) != 0 ||
		    (n > len && !strchr("-_ .", p->name[n - len - 1])))
			continue;
		n -= n > len ? len + 1 : len;
		break;
	}
	if (n)
		snprintf(buf, size, "%.*s", (int)n, p->name);
	else
		snprintf(buf, size, "%s", *p->test ? p->test : "copy");
}

static void set_copy(struct grid *g, size_t column, const struct figure *f)
{
	const struct spread *s = spread_in(f, METRIC_MB_S);

	if (!s->n)
		return;
	grid_set(g, COPY_N, "%zu", s->n);
	grid_set_rate(g, column, s->mean);
	if (s->n > 1)
		grid_set_rate(g, column + 1, s->half);
}

/* The entries of the part, by what @put_key says; the caller frees the list. */
static bool make_entries(struct entries *all, const struct figures *f,
			 enum table_part part,
			 void (*put_key)(char *, size_t, const struct point *))
{
	const struct figure *one;
	char key[64];

	*all = (struct entries){calloc(f->nr + 1, sizeof(*all->list)), 0};
	if (!all->list)
		return false;
	for (one = f->list; one < f->list + f->nr; one++) {
		if (table_part_of(one->point->row) != part ||
		    (one->point->op != OP_READ && one->point->op != OP_WRITE))
			continue;
		put_key(key, sizeof(key), one->point);
		take(all, key,
		     one->point->op == OP_READ ? SLOT_READ : SLOT_WRITE, one);
	}
	return true;
}

void table_print_copy(const struct figures *f, int width, FILE *out)
{
	const struct entry *e;
	struct entries all;
	struct grid g;

	if (!make_entries(&all, f, PART_COPY, put_copy)) {
		fputs("(no memory for the table)\n", out);
		return;
	}
	grid_init(&g, copy_columns, COPY_COLUMNS, true);
	for (e = all.list; e < all.list + all.nr; e++) {
		grid_add_line(&g);
		grid_set(&g, COPY_NAME, "%s", e->key);
		set_copy(&g, COPY_UP, e->of[SLOT_WRITE]);
		set_copy(&g, COPY_DOWN, e->of[SLOT_READ]);
	}
	if (g.nr_lines)
		text_put_wrapped(out, "",
				 "Up is write, down is read; +- is half the "
				 "95 % interval of the mean of n copies.",
				 width);
	grid_print(&g, width, out);
	grid_release(&g);
	free(all.list);
}

/* --- bars --- */

enum { BAR_MOST = 60, BAR_COLUMNS = 5 };

static const struct grid_column bar_columns[BAR_COLUMNS] = {
	{"block", false, 0}, {"write MB/s", false, 0},
	{"", true, 0},	     {"read MB/s", false, 0},
	{"", true, 0},
};

static double highest(const struct entries *all)
{
	const struct entry *e;
	double most = 0, x;

	for (e = all->list; e < all->list + all->nr; e++) {
		x = spread_in(e->of[SLOT_WRITE], METRIC_MB_S)->mean;
		most = x > most ? x : most;
		x = spread_in(e->of[SLOT_READ], METRIC_MB_S)->mean;
		most = x > most ? x : most;
	}
	return most;
}

/* A figure and its bar, of @length where it is the highest. */
static void set_bar(struct grid *g, size_t column, const struct figure *f,
		    double most, int length)
{
	const struct spread *s = spread_in(f, METRIC_MB_S);
	char bar[BAR_MOST + 1];
	int n;

	grid_set(g, column + 1, "%s", "");
	if (!s->n)
		return;
	grid_set_rate(g, column, s->mean);
	n = most > 0 ? (int)(s->mean / most * length + 0.5) : 0;
	memset(bar, '#', sizeof(bar));
	bar[n] = '\0';
	grid_set(g, column + 1, "%s", bar);
}

void table_print_bars(const struct figures *f, int width, FILE *out)
{
	/* Beside the numbers, their headings and four gaps. */
	int length = (width - 5 - 10 - 9 - 4 * 2) / 2;
	const struct entry *e;
	struct entries all;
	struct grid g;
	double most;

	if (!make_entries(&all, f, PART_BARS, put_block)) {
		fputs("(no memory for the table)\n", out);
		return;
	}
	length = length < 4 ? 4 : length > BAR_MOST ? BAR_MOST : length;
	most = highest(&all);
	grid_init(&g, bar_columns, BAR_COLUMNS, false);
	for (e = all.list; e < all.list + all.nr; e++) {
		grid_add_line(&g);
		grid_set(&g, 0, "%s", e->key);
		set_bar(&g, 1, e->of[SLOT_WRITE], most, length);
		set_bar(&g, 3, e->of[SLOT_READ], most, length);
	}
	grid_print(&g, width, out);
	grid_release(&g);
	free(all.list);
}
