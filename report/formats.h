#ifndef REPORT_FORMATS_H
#define REPORT_FORMATS_H

#include <stdio.h>

#include "report/compare.h"

/* The forms that a set can be reported in. A new one: report/format_NAME.c,
 * which defines `const struct format format_NAME`, and its name here. */
#define FORMATS(X)     \
	X(text)        \
	X(csv)         \
	X(html)        \
	X(junit)       \
	X(openmetrics) \
	X(hgrm)        \
	X(png)

struct format {
	const char *name;
	bool is_binary;
	/* Of @s: every point, in its order. @beside: the set against published
	 * figures, for forms that people read; or NULL. -EINVAL and -ENODATA
	 * where the set does not fit the format, -EOPNOTSUPP where the program
	 * or script that the format needs is not there: the text names its
	 * package. */
	int (*write)(const struct set *s, const struct comparison *beside,
		     FILE *out, struct err *e);
};

#define FORMAT_DECLARE(name) extern const struct format format_##name;
FORMATS(FORMAT_DECLARE)
#undef FORMAT_DECLARE

/* NULL-terminated. */
extern const struct format *const formats[];

/* -EINVAL names those that there are. */
int format_find(const struct format **f, const char *name, struct err *e);

#endif
