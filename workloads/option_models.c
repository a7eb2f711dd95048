#include "workloads/option_types.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values that describe a model: mixes of sizes, distributions of addresses,
 * contents, percentiles. */

enum { SPLITS_MAX = 64 };

/* strtod takes "inf", "nan", hex floats and leading blanks; we do not. */
static int parse_decimal(const char *text, char **end, double *out)
{
	if (!isdigit((unsigned char)*text) && *text != '.')
		return -EINVAL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	errno = 0;
	*out = strtod(text, end);
	return *end == text || errno || !isfinite(*out) ? -EINVAL : 0;
}

static int parse_whole_decimal(const char *text, double *out, struct err *e)
{
	char *end;

	if (parse_decimal(text, &end, out) || *end)
		return err_set(e, -EINVAL, "\"%.80s\" is not a number", text);
	return 0;
}

/* --- "a/x:b/y" lists of bssplit and zoned --- */

struct split {
	char *text; /* before the slash */
	double percent;
	bool has_percent;
};

/* Shares @total between the entries that were left blank. */
static void share_rest(struct split *split, size_t nr, double total)
{
	size_t i, blank = 0;
	double sum = 0;

	for (i = 0; i < nr; i++) {
		blank += !split[i].has_percent;
		sum += split[i].has_percent ? split[i].percent : 0;
	}
	for (i = 0; i < nr; i++)
		if (!split[i].has_percent)
			split[i].percent =
				sum < total ? (total - sum) / (double)blank : 0;
}

/* Cuts @text in place. As in fio a blank or zero percentage is "a share of what
 * the others leave". @sum of what was given. */
static int cut_splits(char *text, struct split split[SPLITS_MAX], size_t *nr,
		      double *sum, struct err *e)
{
	char *entry;

	*nr = 0;
	*sum = 0;
	while ((entry = strsep(&text, ":"))) {
		struct split *s = &split[*nr];
		char *slash = strchr(entry, '/');
		int ret;

		if (*nr == SPLITS_MAX)
			return err_set(e, -EINVAL, "more than %d entries",
				       SPLITS_MAX);
		*s = (struct split){.text = entry};
		if (slash)
			*slash = '\0';
		if (slash && slash[1]) {
			ret = parse_whole_decimal(slash + 1, &s->percent, e);
			if (ret)
				return ret;
			if (s->percent > 100)
				return err_set(e, -ERANGE,
					       "%g is more than 100 percent",
					       s->percent);
			s->has_percent = s->percent > 0;
			*sum += s->percent;
		}
		++*nr;
	}
	if (*sum > 100 + 1e-9)
		return err_set(e, -ERANGE,
			       "the percentages add up to %g, more than 100",
			       *sum);
	share_rest(split, *nr, 100);
	return 0;
}

static int parse_bssplit_op(const struct option_input *in, char *text,
			    struct bs_share **share, size_t *nr, struct err *e)
{
	struct split split[SPLITS_MAX];
	double sum, total = 0;
	uint64_t bytes;
	size_t i;
	int ret = cut_splits(text, split, nr, &sum, e);

	if (ret)
		return ret;
	*share = calloc(*nr, sizeof(**share));
	if (!*share)
		return err_set(e, -ENOMEM, "out of memory");
	for (i = 0; i < *nr; i++) {
		ret = option_parse_ranged(in, split[i].text, &bytes, e);
		if (ret)
			return ret;
		(*share)[i] =
			(struct bs_share){(uint32_t)bytes, split[i].percent};
		total += split[i].percent;
	}
	/* Thirds are written 33/33/33: fio gives the rest to the largest, we to
	 * all in proportion, and say so. */
	for (i = 0; total < 100 - 1e-9 && i < *nr; i++)
		(*share)[i].percent *= 100 / total;
	if (total < 100 - 1e-9 && !*in->warning)
		snprintf(in->warning, in->warning_size,
			 "\"bssplit=%.60s\": the percentages add up to %g; "
			 "scaled to 100",
			 in->value, total);
	return 0;
}

int option_parse_bssplit(const struct option_input *in, struct err *e)
{
	struct bs_share *share[OP_DATA_COUNT] = {0};
	size_t nr[OP_DATA_COUNT] = {0};
	const char *part[OP_DATA_COUNT];
	char buf[OPTION_TEXT_MAX], text[OPTION_TEXT_MAX];
	int op, ret = option_cut_list(in->value, buf, part, e);

	for (op = 0; !ret && op < OP_DATA_COUNT; op++) {
		if (!part[op])
			continue;
		strcpy(text, part[op]);
		ret = parse_bssplit_op(in, text, &share[op], &nr[op], e);
	}
	for (op = 0; op < OP_DATA_COUNT; op++) {
		if (ret || !share[op]) {
			free(share[op]);
			continue;
		}
		free(in->opts->bssplit[op]);
		in->opts->bssplit[op] = share[op];
		in->opts->nr_bssplit[op] = nr[op];
	}
	return ret;
}

static int parse_zones(char *text, struct distribution *d, struct err *e)
{
	struct split split[SPLITS_MAX];
	double sizes, access = 0;
	size_t i;
	int ret;

	if (strchr(text, ','))
		return err_set(e, -EINVAL,
			       "zones for each operation apart are not "
			       "supported; give one list for all");
	ret = cut_splits(text, split, &d->nr_zones, &sizes, e);
	if (ret)
		return ret;
	d->zones = calloc(d->nr_zones, sizeof(*d->zones));
	if (!d->zones)
		return err_set(e, -ENOMEM, "out of memory");
	for (i = 0; i < d->nr_zones; i++) {
		d->zones[i].size = split[i].percent;
		ret = parse_whole_decimal(split[i].text, &d->zones[i].access,
					  e);
		if (ret)
			return ret;
		if (d->zones[i].access > 0 && d->zones[i].size <= 0)
			return err_set(e, -EINVAL,
				       "zone %zu has accesses but no size",
				       i + 1);
		access += d->zones[i].access;
	}
	if (fabs(access - 100) > 1e-6)
		return err_set(e, -EINVAL,
			       "the accesses add up to %g percent instead of "
			       "100",
			       access);
	return 0;
}

/* "theta[:center]": parameter and, for the middle of the range, center. */
static int parse_parameter(const char *text, struct distribution *d,
			   struct err *e)
{
	char *end;

	if (parse_decimal(text, &end, &d->param))
		return err_set(e, -EINVAL, "\"%.80s\" is not a number", text);
	if (*end == ':') {
		int ret = parse_whole_decimal(end + 1, &d->center, e);

		if (!ret && d->center > 1)
			ret = err_set(e, -ERANGE, "center %g is outside 0..1",
				      d->center);
		return ret;
	}
	if (*end)
		return err_set(e, -EINVAL, "\"%.80s\" is not a number", text);
	return 0;
}

static int check_parameter(const struct distribution *d, struct err *e)
{
	if (d->kind == DIST_ZIPF && (d->param <= 0 || d->param == 1))
		return err_set(e, -ERANGE,
			       "zipf's theta %g must be over 0 and not 1",
			       d->param);
	if (d->kind == DIST_PARETO && (d->param <= 0 || d->param >= 1))
		return err_set(e, -ERANGE,
			       "pareto's power %g must be between 0 and 1",
			       d->param);
	if (d->kind == DIST_NORMAL && (d->param < 0 || d->param >= 100))
		return err_set(e, -ERANGE,
			       "normal's deviation %g must be 0 or more and "
			       "less than 100 percent",
			       d->param);
	return 0;
}

int option_parse_distribution(const struct option_input *in, struct err *e)
{
	static const struct {
		const char *name;
		enum distribution_kind kind;
		double param; /* fio's default */
	} kinds[] = {
		{"random", DIST_RANDOM, 0},   {"zipf", DIST_ZIPF, 1.1},
		{"pareto", DIST_PARETO, 0.2}, {"normal", DIST_NORMAL, 0},
		{"gauss", DIST_NORMAL, 0},    {"zoned", DIST_ZONED, 0},
	};
	struct distribution d = {.center = -1};
	char buf[OPTION_TEXT_MAX], *param;
	size_t i, nr = sizeof(kinds) / sizeof(kinds[0]);
	int ret = 0;

	if (strlen(in->value) >= sizeof(buf))
		return err_set(e, -EINVAL, "the value has over %d characters",
			       OPTION_TEXT_MAX - 1);
	strcpy(buf, in->value);
	param = strchr(buf, ':');
	if (param)
		*param++ = '\0';
	for (i = 0; i < nr && strcmp(buf, kinds[i].name) != 0; i++)
		;
	if (i == nr)
		return err_set(e, -EINVAL,
			       "\"%.80s\" is not random, zipf, pareto, normal "
			       "or zoned",
			       buf);
	d.kind = kinds[i].kind;
	d.param = kinds[i].param;
	if (d.kind == DIST_ZONED)
		ret = parse_zones(param ? param : buf + strlen(buf), &d, e);
	else if (d.kind == DIST_RANDOM && param)
		ret = err_set(e, -EINVAL, "random takes no parameter");
	else if (param)
		ret = parse_parameter(param, &d, e);
	if (!ret)
		ret = check_parameter(&d, e);
	if (ret) {
		free(d.zones);
		return ret;
	}
	free(in->opts->distribution.zones);
	in->opts->distribution = d;
	return 0;
}

/* --- contents --- */

struct bytes {
	uint8_t *data;
	size_t len;
};

static int add_byte(struct bytes *b, unsigned int byte)
{
	if (b->len == PATTERN_MAX)
		return -E2BIG;
	b->data[b->len++] = (uint8_t)byte;
	return 0;
}

static bool is_hex(const char *p)
{
	return p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
}

/* 0xdeadface: the bytes as written; an odd first digit stands alone. */
static int parse_hex_bytes(const char **p, struct bytes *b)
{
	const char *start = *p += 2, *end;
	int ret = 0;

	/* 0xff0x14 is two numbers. */
	for (end = start; isxdigit((unsigned char)*end) && !is_hex(end); end++)
		;
	if (end == start)
		return -EINVAL;
	while (!ret && *p < end) {
		int n = (end - *p) % 2 ? 1 : 2;
		char digits[3] = {(*p)[0], n == 2 ? (*p)[1] : '\0', '\0'};

		ret = add_byte(b, (unsigned int)strtoul(digits, NULL, 16));
		*p += n;
	}
	return ret;
}

/* -12: the bytes of a 32-bit number that are not zero, low one first. */
static int parse_decimal_bytes(const char **p, struct bytes *b)
{
	bool is_negative = **p == '-';
	const char *digits = *p + (is_negative || **p == '+');
	int64_t n = 0;
	uint32_t rest;
	int ret;

	if (!isdigit((unsigned char)*digits))
		return -EINVAL;
	*p = digits;
	do {
		n = n * 10 + (**p - '0');
		if (n - is_negative > INT_MAX)
			return -ERANGE;
		++*p;
	} while (isdigit((unsigned char)**p) && !is_hex(*p));
	rest = (uint32_t)(is_negative ? -n : n);
	do {
		ret = add_byte(b, rest & 0xff);
		rest >>= 8;
	} while (!ret && rest);
	return ret;
}

static int parse_quoted_bytes(const char **p, struct bytes *b)
{
	int ret = 0;

	for (++*p; !ret && **p && **p != '"'; ++*p)
		ret = add_byte(b, (unsigned char)**p);
	if (!ret && !**p)
		ret = -EINVAL;
	++*p;
	return ret;
}

/* Strings in double quotes, hex and decimal numbers, one after the other
 * (HOWTO, "buffer_pattern"). */
int option_parse_pattern(const struct option_input *in, struct err *e)
{
	uint8_t pattern[PATTERN_MAX];
	struct bytes b = {pattern, 0};
	const char *p = in->value;
	int ret = 0;

	while (!ret && *p) {
		if (*p == '\'' || *p == '%')
			return err_set(e, -EINVAL,
				       "\"%.80s\": files and formats in a "
				       "pattern are not supported; give bytes "
				       "as 0xdeadface or \"text\"",
				       in->value);
		if (*p == '"')
			ret = parse_quoted_bytes(&p, &b);
		else if (is_hex(p))
			ret = parse_hex_bytes(&p, &b);
		else
			ret = parse_decimal_bytes(&p, &b);
	}
	if (ret == -E2BIG)
		return err_set(e, -EINVAL, "the pattern is over %d bytes",
			       PATTERN_MAX);
	if (ret || !b.len)
		return err_set(e, -EINVAL,
			       "\"%.80s\" is not a pattern such as 0xdeadface, "
			       "\"text\" or 42",
			       in->value);
	memcpy(in->opts->pattern, pattern, b.len);
	in->opts->pattern_len = b.len;
	return 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int option_parse_percentiles(const struct option_input *in, struct err *e)
{
	double list[PERCENTILES_MAX];
	const char *p = in->value;
	size_t i, n = 0;

	for (;; p++) {
		char *end;

		if (n == PERCENTILES_MAX)
			return err_set(e, -EINVAL, "more than %d percentiles",
				       PERCENTILES_MAX);
		if (parse_decimal(p, &end, &list[n]) || (*end && *end != ':'))
			return err_set(e, -EINVAL,
				       "\"%.80s\" is not a list of numbers "
				       "separated by colons",
				       in->value);
		if (list[n] <= 0 || list[n] > 100)
			return err_set(e, -ERANGE,
				       "percentile %g must be over 0 and at "
				       "most 100",
				       list[n]);
		n++;
		p = end;
		if (!*p)
			break;
	}
	qsort(list, n, sizeof(list[0]), compare_doubles);
	in->opts->nr_percentiles = 0;
	for (i = 0; i < n; i++) /* each once */
		if (!i || list[i] != list[i - 1])
			in->opts->percentiles[in->opts->nr_percentiles++] =
				list[i];
	return 0;
}
