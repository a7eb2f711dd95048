#include "initiator/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"

static int parse_chance(const char *text, struct spec_chance *c, struct err *e)
{
	char *end;

	*c = (struct spec_chance){0};
	if (!strchr(text, '%'))
		return units_parse_uint(text, 1, UINT64_MAX, &c->every, e);
	c->percent = strtod(text, &end);
	if (end == text || strcmp(end, "%") != 0 || !(c->percent > 0) ||
	    c->percent > 100)
		return err_set(
			e, -EINVAL,
			"\"%s\" is not a share above 0%% and up to 100%%",
			text);
	return 0;
}

static int parse_value(const char *text, const struct spec_key *k,
		       struct err *e)
{
	switch (k->kind) {
	case SPEC_UINT:
		return units_parse_uint(text, 0, UINT64_MAX, k->value, e);
	case SPEC_TIME:
		return units_parse_time(text, NS_PER_USEC, k->value, e);
	case SPEC_SIZE:
		return units_parse_size(text, 1024, k->value, e);
	case SPEC_CHANCE:
		return parse_chance(text, k->value, e);
	case SPEC_WORD:
		snprintf(k->value, 8, "%s", text);
		return 0;
	}
	return -EINVAL;
}

static int unknown_key(const char *name, const struct spec_key *keys,
		       struct err *e)
{
	char known[256] = "";
	size_t len = 0;

	for (; keys->name && len < sizeof(known); keys++)
		len += snprintf(known + len, sizeof(known) - len, "%s%s",
				len ? ", " : "", keys->name);
	return err_set(e, -EINVAL, "unknown key \"%s\"; known are %s", name,
		       known);
}

int spec_parse(const char *text, const struct spec_key *keys, struct err *e)
{
	char copy[1024], *item, *value, *rest = copy;
	const struct spec_key *k;

	if (strlen(text) >= sizeof(copy))
		return err_set(e, -EINVAL, "longer than %zu bytes",
			       sizeof(copy));
	strcpy(copy, text);
	while (*rest) {
		item = strsep(&rest, ",");
		value = strchr(item, '=');
		if (!value)
			return err_set(e, -EINVAL, "\"%s\" is not key=value",
				       item);
		*value++ = '\0';
		for (k = keys; k->name && strcmp(k->name, item) != 0; k++)
			;
		if (!k->name)
			return unknown_key(item, keys, e);
		if (parse_value(value, k, e))
			return err_prefix(e, "%s", item);
		if (!rest)
			break;
	}
	return 0;
}
