#include "tests/target/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"

void script_init(struct script *s)
{
	memset(s, 0, sizeof(*s));
	s->size_bytes = 64 << 20;
	s->block_bytes = 512;
	s->luns = 1;
	s->window = 128;
}

/* --- rules --- */

static const struct {
	const char *name;
	unsigned int what;
} whats[] = {
	{"read", WHAT_READ},	 {"write", WHAT_WRITE}, {"flush", WHAT_FLUSH},
	{"unmap", WHAT_UNMAP},	 {"io", WHAT_IO},	{"any", WHAT_ANY},
	{"logout", WHAT_LOGOUT},
};

static const struct {
	const char *name;
	enum act act;
} acts[] = {
	{"busy", ACT_BUSY},
	{"full", ACT_FULL},
	{"attention", ACT_ATTENTION},
	{"medium", ACT_MEDIUM},
	{"stall", ACT_STALL},
	{"drop", ACT_DROP},
	{"cut", ACT_CUT},
	{"ping", ACT_PING},
	{"data-in", ACT_DATA_IN},
	{"short", ACT_SHORT},
	{"early", ACT_EARLY},
	{"early-zero", ACT_EARLY_ZERO},
	{"deny", ACT_DENY},
	{"r2t", ACT_R2T},
	{"flip", ACT_FLIP},
	{"lost", ACT_LOST},
	{"swap", ACT_SWAP},
	{"tear", ACT_TEAR},
	{"misdirect", ACT_MISDIRECT},
	{"duplicate", ACT_DUPLICATE},
	{"zero", ACT_ZERO},
	{"stale", ACT_STALE},
};

static int parse_what(struct rule *r, const char *word, struct err *e)
{
	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++)
		if (!strcmp(word, whats[i].name))
			r->what = whats[i].what;
	if (r->what)
		return 0;
	return err_set(e, -EINVAL, "rule: \"%s\" is no kind of command", word);
}

static int parse_word(struct rule *r, const char *word, struct err *e)
{
	const char *value = strchr(word, '=');
	size_t n = value ? (size_t)(value - word) : 0;

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(word, acts[i].name)) {
			r->act = acts[i].act;
			return 0;
		}
	if (n == 5 && !memcmp(word, "delay", n)) {
		r->act = ACT_DELAY;
		return units_parse_time(value + 1, 1000, &r->delay_ns, e);
	}
	if (n == 4 && !memcmp(word, "shut", n)) {
		r->act = ACT_SHUT;
		return units_parse_time(value + 1, 1000, &r->delay_ns, e);
	}
	if (n == 6 && !memcmp(word, "logout", n)) {
		r->act = ACT_LOGOUT;
		r->event = strtoul(value + 1, NULL, 10);
		return 0;
	}
	if (n == 5 && !memcmp(word, "every", n))
		r->every = strtoull(value + 1, NULL, 10);
	else if (n == 5 && !memcmp(word, "after", n))
		r->after = strtoull(value + 1, NULL, 10);
	else if (n == 5 && !memcmp(word, "times", n))
		r->times = strtoull(value + 1, NULL, 10);
	else
		return err_set(e, -EINVAL, "rule: \"%s\" is unknown", word);
	return 0;
}

static int parse_rule(struct script *s, char *text, struct err *e)
{
	struct rule *r = &s->rules[s->nr_rules];
	char *word, *rest = text;
	int ret;

	if (s->nr_rules == sizeof(s->rules) / sizeof(s->rules[0]))
		return err_set(e, -E2BIG, "too many rules");
	memset(r, 0, sizeof(*r));
	r->every = 1;
	r->times = UINT64_MAX;
	while ((word = strsep(&rest, " \t"))) {
		if (!*word)
			continue;
		ret = r->what ? parse_word(r, word, e) : parse_what(r, word, e);
		if (ret)
			return ret;
	}
	if (!r->what || r->act == ACT_NONE || !r->every)
		return err_set(e, -EINVAL,
			       "a rule is: rule WHAT [every=N] [after=N] "
			       "[times=N] ACT");
	s->nr_rules++;
	return 0;
}

const struct rule *script_meet(struct script *s, enum what what)
{
	struct rule *hit = NULL, *r;

	for (r = s->rules; r < s->rules + s->nr_rules; r++) {
		if (!(r->what & what))
			continue;
		r->seen++;
		if (hit || r->seen <= r->after || r->done >= r->times ||
		    (r->seen - r->after) % r->every)
			continue;
		r->done++;
		hit = r;
	}
	return hit;
}

/* --- settings --- */

static int parse_number(struct script *s, const char *name, const char *value,
			struct err *e)
{
	const struct {
		const char *name;
		uint64_t *to;
	} numbers[] = {
		{"size", &s->size_bytes},   {"store", &s->store_bytes},
		{"block", &s->block_bytes}, {"luns", &s->luns},
		{"window", &s->window},	    {"sndbuf", &s->sndbuf},
		{"rcvbuf", &s->rcvbuf},
	};
	struct size_value size;
	int ret;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(name, numbers[i].name) != 0)
			continue;
		ret = units_parse_size(value, 1024, &size, e);
		if (ret)
			return ret;
		*numbers[i].to = size.bytes;
		return 0;
	}
	return -ENOENT;
}

static int parse_r2t(struct script *s, char *value, struct err *e)
{
	struct size_value size;
	char *word;
	int ret = 0;

	for (s->nr_r2t = 0; !ret && (word = strsep(&value, ","));) {
		if (s->nr_r2t == sizeof(s->r2t_bytes) / sizeof(s->r2t_bytes[0]))
			return err_set(e, -E2BIG, "too many sizes of R2T");
		ret = units_parse_size(word, 1024, &size, e);
		if (!ret && (!size.bytes || size.bytes > UINT32_MAX))
			ret = err_set(e, -EINVAL, "r2t: \"%s\"", word);
		s->r2t_bytes[s->nr_r2t++] = size.bytes;
	}
	return ret;
}

int script_line(struct script *s, const char *line, struct err *e)
{
	char text[512], *value;
	struct key *k = &s->keys[s->nr_keys];
	int ret;

	line += strspn(line, " \t");
	if ((size_t)snprintf(text, sizeof(text), "%s", line) >= sizeof(text))
		return err_set(e, -EINVAL, "a line is too long");
	text[strcspn(text, "#\r\n")] = '\0';
	if (!*text)
		return 0;
	if (!strncmp(text, "rule ", 5))
		return parse_rule(s, text + 5, e);
	value = strchr(text, '=');
	if (!value)
		return err_set(e, -EINVAL, "\"%s\" is no key=value", text);
	*value++ = '\0';
	if (!strcmp(text, "r2t"))
		return parse_r2t(s, value, e);
	ret = parse_number(s, text, value, e);
	if (ret != -ENOENT)
		return ret;
	if (*text < 'A' || *text > 'Z')
		return err_set(e, -EINVAL, "\"%s\" is unknown", text);
	if (s->nr_keys == sizeof(s->keys) / sizeof(s->keys[0]))
		return err_set(e, -E2BIG, "too many keys");
	snprintf(k->name, sizeof(k->name), "%s", text);
	snprintf(k->value, sizeof(k->value), "%s", value);
	s->nr_keys++;
	return 0;
}

int script_file(struct script *s, const char *path, struct err *e)
{
	char *text, *rest, *line;
	size_t len;
	int ret = file_read(path, 1 << 20, &text, &len, e);

	if (ret)
		return ret;
	rest = text;
	while (!ret && (line = strsep(&rest, "\n")))
		ret = script_line(s, line, e);
	free(text);
	return ret;
}

int script_check(struct script *s, struct err *e)
{
	if (s->block_bytes < 512 || s->block_bytes > 65536 ||
	    (s->block_bytes & (s->block_bytes - 1)) ||
	    s->size_bytes < s->block_bytes || !s->window || !s->luns ||
	    s->luns > 255)
		return err_set(e, -EINVAL, "block, size, window or luns");
	if (!s->store_bytes)
		s->store_bytes = s->size_bytes;
	/* A multiple of a page and of the block, so that it can be mapped
	 * twice in a row and no block is cut. */
	s->store_bytes = (s->store_bytes + 65535) / 65536 * 65536;
	return 0;
}

const char *script_key(const struct script *s, const char *name)
{
	for (size_t i = 0; i < s->nr_keys; i++)
		if (!strcmp(s->keys[i].name, name))
			return s->keys[i].value;
	return NULL;
}
