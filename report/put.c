#include "report/put.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put_value(struct put *p, json_t *parent, const char *key, json_t *value)
{
	int bad;

	if (key)
		bad = json_object_set_new(parent, key, value);
	else
		bad = json_array_append_new(parent, value);
	if (bad)
		p->failed = true;
}

json_t *put_object(struct put *p, json_t *parent, const char *key)
{
	json_t *o = json_object();

	put_value(p, parent, key, o);
	return p->failed ? NULL : o;
}

json_t *put_array(struct put *p, json_t *parent, const char *key)
{
	json_t *a = json_array();

	put_value(p, parent, key, a);
	return p->failed ? NULL : a;
}

void put_int(struct put *p, json_t *parent, const char *key, uint64_t value)
{
	put_value(p, parent, key,
		  json_integer(value > INT64_MAX ? INT64_MAX
						 : (json_int_t)value));
}

void put_int_or_null(struct put *p, json_t *parent, const char *key,
		     uint64_t value)
{
	if (value == UINT64_MAX)
		put_value(p, parent, key, json_null());
	else
		put_int(p, parent, key, value);
}

void put_real(struct put *p, json_t *parent, const char *key, double value)
{
	put_value(p, parent, key, json_real(isfinite(value) ? value : 0));
}

void put_bool(struct put *p, json_t *parent, const char *key, bool value)
{
	put_value(p, parent, key, json_boolean(value));
}

/* Names in job files and texts cut to their buffer need not be UTF-8. */
static json_t *text_cleaned(const char *value)
{
	char *copy = strdup(value), *c;
	json_t *s;

	for (c = copy; c && *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	s = json_string(copy);
	free(copy);
	return s;
}

void put_text(struct put *p, json_t *parent, const char *key, const char *value)
{
	json_t *s = value ? json_string(value) : json_null();

	put_value(p, parent, key, s ? s : text_cleaned(value));
}

void put_format(struct put *p, json_t *parent, const char *key, const char *fmt,
		...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put_text(p, parent, key, text);
}
