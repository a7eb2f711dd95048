#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return code;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	char prefix[sizeof(e->text)], text[sizeof(e->text)];
	va_list ap;
	int n;

	if (!e)
		return -EIO;
	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
	memcpy(text, e->text, sizeof(text));
	n = snprintf(e->text, sizeof(e->text), "%s: ", prefix);
	if (n > 0 && (size_t)n < sizeof(e->text))
		snprintf(e->text + n, sizeof(e->text) - n, "%s", text);
	return e->code;
}
