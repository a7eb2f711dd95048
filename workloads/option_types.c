#include "workloads/option_types.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

static void *field_of(const struct option_input *in)
{
	return (char *)in->opts + in->desc->field;
}

/* --- numbers --- */

static void warn_kib(const struct option_input *in, const char *text,
		     uint64_t bytes)
{
	size_t digits = strspn(text, "+0123456789");

	if (*in->warning)
		return;
	snprintf(in->warning, in->warning_size,
		 "\"%s=%.60s\": as in fio, %.20s means %" PRIu64
		 " bytes with kb_base=%u; for powers of 1024 write %.*s%c%s",
		 in->desc->name, in->value, text, bytes, in->kb_base,
		 (int)digits, text, text[digits],
		 in->kb_base == 1000 ? "iB" : "");
}

int option_parse_ranged(const struct option_input *in, const char *text,
			uint64_t *out, struct err *e)
{
	const struct option_desc *d = in->desc;
	struct size_value v;
	int ret = units_parse_size(text, in->kb_base, &v, e);

	if (ret)
		return ret;
	if (v.is_percent)
		return err_set(e, -EINVAL,
			       "\"%.80s\" is a percentage; give a number",
			       text);
	if (v.bytes < d->min || v.bytes > d->max)
		return err_set(e, -ERANGE,
			       "%" PRIu64 " is outside %" PRIu64 "..%" PRIu64,
			       v.bytes, d->min, d->max);
	if (v.kib_trap)
		warn_kib(in, text, v.bytes);
	*out = v.bytes;
	return 0;
}

static int parse_uint(const struct option_input *in, struct err *e)
{
	uint64_t n;
	int ret;

	/* A count: the parser's hint would speak of sizes. */
	if (*in->value == '-')
		return err_set(e, -EINVAL,
			       "%.80s is outside %" PRIu64 "..%" PRIu64,
			       in->value, in->desc->min, in->desc->max);
	ret = option_parse_ranged(in, in->value, &n, e);
	if (!ret)
		*(unsigned int *)field_of(in) = (unsigned int)n;
	return ret;
}

static int parse_u64(const struct option_input *in, struct err *e)
{
	return option_parse_ranged(in, in->value, field_of(in), e);
}

static int parse_rwmixwrite(const struct option_input *in, struct err *e)
{
	int ret = parse_uint(in, e);

	if (!ret)
		in->opts->rwmixread = 100 - in->opts->rwmixread;
	return ret;
}

static int parse_randseed(const struct option_input *in, struct err *e)
{
	int ret = parse_u64(in, e);

	if (!ret)
		in->opts->randseed_set = true;
	return ret;
}

static int parse_bool(const struct option_input *in, struct err *e)
{
	if (strcmp(in->value, "0") != 0 && strcmp(in->value, "1") != 0)
		return err_set(e, -EINVAL, "\"%.80s\" is not 0 or 1",
			       in->value);
	*(bool *)field_of(in) = in->value[0] == '1';
	return 0;
}

static int parse_time(const struct option_input *in, struct err *e)
{
	return units_parse_time(in->value, in->desc->unit_ns, field_of(in), e);
}

static int parse_amount(const struct option_input *in, struct err *e)
{
	struct amount *a = field_of(in);
	struct size_value v;
	int ret = units_parse_size(in->value, in->kb_base, &v, e);

	if (ret)
		return ret;
	if (v.kib_trap)
		warn_kib(in, in->value, v.bytes);
	*a = (struct amount){.set = true,
			     .is_percent = v.is_percent,
			     .bytes = v.bytes,
			     .percent = v.percent};
	return 0;
}

/* --- lists for read, write, trim --- */

int option_cut_list(const char *value, char buf[OPTION_TEXT_MAX],
		    const char *part[OP_DATA_COUNT], struct err *e)
{
	char *p = buf, *comma;
	int op;

	if (strlen(value) >= OPTION_TEXT_MAX)
		return err_set(e, -EINVAL, "the value has over %d characters",
			       OPTION_TEXT_MAX - 1);
	strcpy(buf, value);
	memset(part, 0, OP_DATA_COUNT * sizeof(*part));
	if (!buf[strspn(buf, ",")])
		return err_set(e, -EINVAL, "the value is empty");
	for (op = 0;; op++) {
		if (op == OP_DATA_COUNT)
			return *p ? err_set(e, -EINVAL,
					    "\"%.80s\" has more than three "
					    "parts (read,write,trim)",
					    value)
				  : 0;
		comma = strchr(p, ',');
		if (comma)
			*comma = '\0';
		part[op] = *p ? p : NULL;
		if (!comma)
			break;
		p = comma + 1;
	}
	for (; *p && op < OP_DATA_COUNT; op++)
		part[op] = p;
	return 0;
}

static int parse_list(const struct option_input *in, uint64_t out[],
		      bool given[], struct err *e)
{
	const char *part[OP_DATA_COUNT];
	char buf[OPTION_TEXT_MAX];
	int op, ret = option_cut_list(in->value, buf, part, e);

	for (op = 0; !ret && op < OP_DATA_COUNT; op++) {
		given[op] = part[op];
		if (part[op])
			ret = option_parse_ranged(in, part[op], &out[op], e);
	}
	return ret;
}

static int parse_uint_list(const struct option_input *in, struct err *e)
{
	uint64_t n[OP_DATA_COUNT];
	bool given[OP_DATA_COUNT];
	unsigned int *field = field_of(in);
	int op, ret = parse_list(in, n, given, e);

	_Static_assert(sizeof(unsigned int) == sizeof(uint32_t),
		       "bs[] is uint32_t, percentage_random[] unsigned int");
	for (op = 0; !ret && op < OP_DATA_COUNT; op++)
		if (given[op])
			field[op] = (unsigned int)n[op];
	return ret;
}

static int parse_u64_list(const struct option_input *in, struct err *e)
{
	uint64_t n[OP_DATA_COUNT], *field = field_of(in);
	bool given[OP_DATA_COUNT];
	int op, ret = parse_list(in, n, given, e);

	for (op = 0; !ret && op < OP_DATA_COUNT; op++)
		if (given[op])
			field[op] = n[op];
	return ret;
}

/* --- words --- */

static int parse_text(const struct option_input *in, struct err *e)
{
	char **field = field_of(in);
	char *copy = strdup(in->value);

	if (!copy)
		return err_set(e, -ENOMEM, "out of memory");
	free(*field);
	*field = copy;
	return 0;
}

struct rw_word {
	const char *word;
	unsigned int ops;
	bool is_random;
};

static const struct rw_word *find_rw(const char *word)
{
	static const struct rw_word words[] = {
		{"read", OP_BIT(OP_READ), false},
		{"write", OP_BIT(OP_WRITE), false},
		{"trim", OP_BIT(OP_TRIM), false},
		{"rw", OP_BIT(OP_READ) | OP_BIT(OP_WRITE), false},
		{"readwrite", OP_BIT(OP_READ) | OP_BIT(OP_WRITE), false},
		{"randread", OP_BIT(OP_READ), true},
		{"randwrite", OP_BIT(OP_WRITE), true},
		{"randtrim", OP_BIT(OP_TRIM), true},
		{"randrw", OP_BIT(OP_READ) | OP_BIT(OP_WRITE), true},
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].word))
			return &words[i];
	return NULL;
}

/* rw=randread:8 draws every 8th offset; rw=read:4k leaves holes of 4k, and a
 * negative hole goes backwards (HOWTO, "readwrite"). */
static int parse_sequencer(const struct option_input *in, const char *text,
			   bool is_random, unsigned int *sequence,
			   int64_t *step, struct err *e)
{
	bool is_negative = *text == '-' && !is_random;
	struct size_value v;
	int ret = units_parse_size(text + is_negative, in->kb_base, &v, e);

	if (ret)
		return ret;
	if (v.is_percent || (is_random && !v.bytes) ||
	    v.bytes > (is_random ? UINT32_MAX : INT64_MAX))
		return err_set(e, -ERANGE, "\"%.80s\" after the colon is %s",
			       text,
			       is_random ? "not a number of I/Os"
					 : "not a number of bytes");
	if (v.kib_trap)
		warn_kib(in, text + is_negative, v.bytes);
	if (is_random)
		*sequence = (unsigned int)v.bytes;
	else
		*step = is_negative ? -(int64_t)v.bytes : (int64_t)v.bytes;
	return 0;
}

static int parse_rw(const struct option_input *in, struct err *e)
{
	struct job_opts *o = in->opts;
	const struct rw_word *w;
	unsigned int sequence = 1;
	int64_t step = 0;
	char word[32];
	const char *colon = strchr(in->value, ':');
	int ret = 0;

	snprintf(word, sizeof(word), "%.*s",
		 colon ? (int)(colon - in->value) : 31, in->value);
	if (!strcmp(word, "trimwrite") || !strcmp(word, "randtrimwrite"))
		return err_set(
			e, -EINVAL,
			"\"%s\" is not supported; run a trim job, then a "
			"write job behind a stonewall",
			word);
	w = find_rw(word);
	if (!w)
		return err_set(e, -EINVAL,
			       "\"%s\" is not read, write, trim, randread, "
			       "randwrite, randtrim, rw or randrw",
			       word);
	if (colon)
		ret = parse_sequencer(in, colon + 1, w->is_random, &sequence,
				      &step, e);
	if (ret)
		return ret;
	o->ops = w->ops;
	o->is_random = w->is_random;
	o->sequence = sequence;
	o->step_bytes = step;
	return 0;
}

static int parse_rate_process(const struct option_input *in, struct err *e)
{
	if (!strcmp(in->value, "linear"))
		in->opts->rate_process = RATE_LINEAR;
	else if (!strcmp(in->value, "poisson"))
		in->opts->rate_process = RATE_POISSON;
	else
		return err_set(e, -EINVAL, "\"%.80s\" is not linear or poisson",
			       in->value);
	return 0;
}

static int parse_continue(const struct option_input *in, struct err *e)
{
	static const struct {
		const char *word;
		unsigned int ops;
	} words[] = {
		{"none", 0},
		{"0", 0},
		{"read", OP_BIT(OP_READ)},
		{"write", OP_BIT(OP_WRITE)},
		{"io", OP_BIT(OP_READ) | OP_BIT(OP_WRITE) | OP_BIT(OP_TRIM)},
		{"verify", 0}, /* nothing is verified */
		{"all", OP_BIT(OP_COUNT) - 1},
		{"1", OP_BIT(OP_COUNT) - 1},
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(in->value, words[i].word) != 0)
			continue;
		in->opts->continue_on_error = words[i].ops;
		return 0;
	}
	return err_set(e, -EINVAL,
		       "\"%.80s\" is not none, read, write, io or all",
		       in->value);
}

static int parse_kb_base(const struct option_input *in, struct err *e)
{
	if (strcmp(in->value, "1024") != 0 && strcmp(in->value, "1000") != 0)
		return err_set(e, -EINVAL, "\"%.80s\" is not 1024 or 1000",
			       in->value);
	in->opts->kb_base = strcmp(in->value, "1000") ? 1024 : 1000;
	return 0;
}

int option_parse(const struct option_input *in, struct err *e)
{
	switch ((enum option_type)in->desc->type) {
	case TYPE_NONE:
		return 0;
	case TYPE_TEXT:
		return parse_text(in, e);
	case TYPE_RW:
		return parse_rw(in, e);
	case TYPE_SIZE_LIST:
	case TYPE_PERCENT_LIST:
		return parse_uint_list(in, e);
	case TYPE_RATE_LIST:
		return parse_u64_list(in, e);
	case TYPE_UINT:
		return parse_uint(in, e);
	case TYPE_U64:
		return parse_u64(in, e);
	case TYPE_RANDSEED:
		return parse_randseed(in, e);
	case TYPE_AMOUNT:
		return parse_amount(in, e);
	case TYPE_TIME:
		return parse_time(in, e);
	case TYPE_BOOL:
		return parse_bool(in, e);
	case TYPE_RWMIXWRITE:
		return parse_rwmixwrite(in, e);
	case TYPE_BSSPLIT:
		return option_parse_bssplit(in, e);
	case TYPE_DISTRIBUTION:
		return option_parse_distribution(in, e);
	case TYPE_RATE_PROCESS:
		return parse_rate_process(in, e);
	case TYPE_PATTERN:
		return option_parse_pattern(in, e);
	case TYPE_PERCENTILES:
		return option_parse_percentiles(in, e);
	case TYPE_CONTINUE_ON_ERROR:
		return parse_continue(in, e);
	case TYPE_KB_BASE:
		return parse_kb_base(in, e);
	case TYPE_CLIENTS:
		return option_parse_clients(in, e);
	case TYPE_REPEAT_ORDER:
		return option_parse_repeat_order(in, e);
	case TYPE_UNTIL:
		return option_parse_until(in, e);
	case TYPE_MISFIT:
		return option_parse_misfit(in, e);
	case TYPE_VIEW:
		return option_parse_view(in, e);
	case TYPE_DEPARTS:
		return option_parse_departs(in, e);
	}
	return -EINVAL;
}
