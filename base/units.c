#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"

/* Reads digits of @base at *p and moves on. -EINVAL without a digit, -ERANGE
 * when 64 bits are too few. */
static int parse_digits(const char **p, unsigned int base, uint64_t *out)
{
	const char *start = *p;
	uint64_t n = 0;

	for (;; (*p)++) {
		unsigned char c = **p;
		unsigned int digit;

		if (isdigit(c))
			digit = c - '0';
		else if (base == 16 && isxdigit(c))
			digit = tolower(c) - 'a' + 10;
		else
			break;
		if (__builtin_mul_overflow(n, base, &n) ||
		    __builtin_add_overflow(n, digit, &n))
			return -ERANGE;
	}
	*out = n;
	return *p == start ? -EINVAL : 0;
}

static int parse_number(const char **p, uint64_t *out)
{
	unsigned int base = 10;

	if ((*p)[0] == '0' && ((*p)[1] == 'x' || (*p)[1] == 'X')) {
		base = 16;
		*p += 2;
	} else if (**p == '+') {
		(*p)++;
	}
	return parse_digits(p, base, out);
}

static int err_number(struct err *e, int code, const char *text,
		      const char *want)
{
	if (code == -ERANGE)
		return err_set(e, code, "\"%.80s\" is too large for 64 bits",
			       text);
	if (!*text)
		return err_set(e, code, "the value is empty; give %s", want);
	if (*text == '-')
		return err_set(e, code, "\"%.80s\" is negative; give %s", text,
			       want);
	if (*text == '(')
		return err_set(e, code,
			       "\"%.80s\" is an arithmetic expression, which "
			       "is not supported; give %s",
			       text, want);
	return err_set(e, code, "\"%.80s\" is not %s", text, want);
}

/* The multiplier that a suffix stands for; 0 for a bad one. */
static uint64_t size_unit(const char *s, unsigned int kb_base, bool *kib_trap)
{
	static const char prefixes[] = "kmgtp";
	unsigned int step = kb_base, power;
	const char *found;
	bool has_i;
	uint64_t unit = 1;

	*kib_trap = false;
	if (!*s || !strcasecmp(s, "b"))
		return 1;
	found = strchr(prefixes, tolower((unsigned char)*s));
	if (!found)
		return 0;
	s++;
	has_i = tolower((unsigned char)*s) == 'i';
	s += has_i;
	if (!strcasecmp(s, "b")) {
		/* Only with the b does fio turn KiB around. */
		if (has_i)
			step = kb_base == 1000 ? 1024 : 1000;
	} else if (*s) {
		return 0;
	}
	*kib_trap = has_i && step == 1000;
	for (power = (unsigned int)(found - prefixes) + 1; power; power--)
		unit *= step;
	return unit;
}

/* Digits, perhaps a fraction, and a %: nothing else. */
static bool parse_percent(const char *text, double *percent)
{
	const char *p = text + strspn(text, "0123456789");
	size_t digits = (size_t)(p - text);

	if (*p == '.') {
		size_t n = strspn(p + 1, "0123456789");

		digits += n;
		p += n + 1;
	}
	if (!digits || strcmp(p, "%") != 0)
		return false;
	*percent = strtod(text, NULL);
	return true;
}

int units_parse_size(const char *text, unsigned int kb_base,
		     struct size_value *out, struct err *e)
{
	static const char want[] = "a size such as 4096, 4k, 1m, 10g or 50%";
	const char *p = text;
	uint64_t n, unit;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = parse_number(&p, &n);
	if (ret)
		return err_number(e, ret, text, want);
	if (parse_percent(text, &out->percent)) {
		if (out->percent > 100)
			return err_set(e, -ERANGE,
				       "\"%.80s\" is more than 100%%", text);
		out->is_percent = true;
		return 0;
	}
	unit = size_unit(p, kb_base, &out->kib_trap);
	/* fio drops the unit of a hex number silently. */
	if (!unit || (*p && strchr(text, 'x')) || (*p && strchr(text, 'X')))
		return err_number(e, -EINVAL, text, want);
	if (__builtin_mul_overflow(n, unit, &out->bytes))
		return err_number(e, -ERANGE, text, want);
	return 0;
}

static uint64_t time_unit_ns(const char *s, uint64_t default_unit_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"d", 86400 * NS_PER_SEC},
		{"h", 3600 * NS_PER_SEC},
		{"m", 60 * NS_PER_SEC},
		{"s", NS_PER_SEC},
		{"sec", NS_PER_SEC},
		{"ms", NS_PER_MSEC},
		{"msec", NS_PER_MSEC},
		{"us", NS_PER_USEC},
		{"usec", NS_PER_USEC},
		{"ns", 1},
		{"nsec", 1},
	};
	size_t i;

	if (!*s)
		return default_unit_ns;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcasecmp(s, units[i].name))
			return units[i].ns;
	return 0;
}

int units_parse_time(const char *text, uint64_t default_unit_ns, uint64_t *ns,
		     struct err *e)
{
	static const char want[] = "a time such as 30, 30s, 5m, 250ms or 10us";
	const char *p = text, *fraction = NULL;
	uint64_t whole = 0, unit;
	double part = 0;
	int ret = 0;

	if (isdigit((unsigned char)*p))
		ret = parse_digits(&p, 10, &whole);
	else if (*p != '.')
		ret = -EINVAL;
	if (ret)
		return err_number(e, ret, text, want);
	if (*p == '.') {
		double scale = 0.1;

		for (fraction = ++p; isdigit((unsigned char)*p); p++) {
			part += (*p - '0') * scale;
			scale /= 10;
		}
		if (p == fraction)
			return err_number(e, -EINVAL, text, want);
	}
	unit = time_unit_ns(p, default_unit_ns);
	if (!unit)
		return err_number(e, -EINVAL, text, want);
	if (__builtin_mul_overflow(whole, unit, ns) ||
	    __builtin_add_overflow(*ns, (uint64_t)(part * (double)unit + 0.5),
				   ns))
		return err_number(e, -ERANGE, text, want);
	return 0;
}

int units_parse_uint(const char *text, uint64_t min, uint64_t max,
		     uint64_t *out, struct err *e)
{
	const char *p = text;
	uint64_t n;
	int ret = parse_number(&p, &n);

	if (!ret && *p)
		ret = -EINVAL;
	if (ret)
		return err_number(e, ret, text, "a whole number");
	if (n < min || n > max)
		return err_set(e, -ERANGE,
			       "%" PRIu64 " is outside %" PRIu64 "..%" PRIu64,
			       n, min, max);
	*out = n;
	return 0;
}

char *units_bytes(char *buf, size_t size, uint64_t bytes)
{
	static const char *const names[] = {"B",   "KiB", "MiB", "GiB",
					    "TiB", "PiB", "EiB"};
	double value;
	int largest = 0, i;

	while (largest < 6 && bytes >> (10 * (largest + 1)))
		largest++;
	/* The largest unit that says it exactly in few digits... */
	for (i = largest; i >= 0; i--) {
		uint64_t unit = 1ULL << (10 * i), rest = bytes % unit;

		if (bytes / unit >= 10000)
			break;
		if ((rest * 100) % unit)
			continue;
		rest = rest * 100 / unit;
		if (!rest)
			snprintf(buf, size, "%" PRIu64 " %s", bytes / unit,
				 names[i]);
		else if (rest % 10 == 0)
			snprintf(buf, size, "%" PRIu64 ".%" PRIu64 " %s",
				 bytes / unit, rest / 10, names[i]);
		else
			snprintf(buf, size, "%" PRIu64 ".%02" PRIu64 " %s",
				 bytes / unit, rest, names[i]);
		return buf;
	}
	/* ... or else two decimals of the largest. */
	value = (double)bytes / (double)(1ULL << (10 * largest));
	snprintf(buf, size, "%.2f %s", value, names[largest]);
	return buf;
}

/* @n with @digits significant digits, never in exponent form. */
static void format_significant(char *buf, size_t size, double n, int digits,
			       const char *unit)
{
	int before = n < 1 ? 1 : (int)floor(log10(n)) + 1;
	int decimals = digits > before ? digits - before : 0;

	/* 9.996 must become 10.0, not 10.00. */
	if (decimals && n >= 1 &&
	    n + 0.5 * pow(10, -decimals) >= pow(10, before))
		decimals--;
	snprintf(buf, size, "%.*f%s", decimals, n, unit);
}

char *units_rate(char *buf, size_t size, double bytes_per_second)
{
	format_significant(buf, size, bytes_per_second / 1e6, 4, " MB/s");
	return buf;
}

char *units_time(char *buf, size_t size, double ns)
{
	uint64_t s;

	if (ns < 999.5) {
		snprintf(buf, size, "%.0f ns", ns);
	} else if (ns < 999.5e3) {
		format_significant(buf, size, ns / 1e3, 3, " us");
	} else if (ns < 999.5e6) {
		format_significant(buf, size, ns / 1e6, 3, " ms");
	} else if (ns < 59.95e9) {
		format_significant(buf, size, ns / 1e9, 3, " s");
	} else {
		s = ns < 1e19 ? (uint64_t)(ns / 1e9 + 0.5) : UINT64_MAX / 10;
		if (s >= 3600 && (s + 30) / 60 % 60)
			snprintf(buf, size, "%" PRIu64 " h %" PRIu64 " min",
				 (s + 30) / 3600, (s + 30) / 60 % 60);
		else if (s >= 3600)
			snprintf(buf, size, "%" PRIu64 " h", (s + 30) / 3600);
		else if (s % 60)
			snprintf(buf, size, "%" PRIu64 " min %" PRIu64 " s",
				 s / 60, s % 60);
		else
			snprintf(buf, size, "%" PRIu64 " min", s / 60);
	}
	return buf;
}

char *units_count(char *buf, size_t size, double n)
{
	if (n < 10)
		format_significant(buf, size, n, n == floor(n) ? 1 : 3, "");
	else if (n < 9999.5)
		snprintf(buf, size, "%.0f", n);
	else if (n < 999.5e3)
		format_significant(buf, size, n / 1e3, 3, "k");
	else if (n < 999.5e6)
		format_significant(buf, size, n / 1e6, 3, "M");
	else
		format_significant(buf, size, n / 1e9, 3, "G");
	return buf;
}
