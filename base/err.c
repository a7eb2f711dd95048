#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character that @s begins with; 0 if it begins with none,
 * or with a control character (C1 is C2 80 to C2 9F). */
static size_t printable_bytes(const unsigned char *s)
{
	size_t n, i;

	if (*s < 0x80)
		return *s >= 0x20 && *s != 0x7f;
	if (*s < 0xc2 || *s > 0xf4 || (*s == 0xc2 && s[1] < 0xa0))
		return 0;
	n = *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong, surrogates, beyond U+10FFFF */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void err_make_printable(char *text)
{
	size_t n;

	for (; *text; text += n) {
		n = printable_bytes((unsigned char *)text);
		if (!n) {
			*text = '?';
			n = 1;
		}
	}
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	err_make_printable(e->text);
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
	err_make_printable(e->text);
	return e->code;
}
