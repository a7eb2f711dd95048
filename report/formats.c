#include "report/formats.h"

#include <errno.h>
#include <string.h>

#define FORMAT_ROW(name) &format_##name,
const struct format *const formats[] = {FORMATS(FORMAT_ROW) NULL};

int format_find(const struct format **f, const char *name, struct err *e)
{
	char names[128] = "";
	size_t i;

	for (i = 0; formats[i]; i++) {
		*f = formats[i];
		if (!strcmp(name, formats[i]->name))
			return 0;
		snprintf(names + strlen(names), sizeof(names) - strlen(names),
			 "%s%s", i ? ", " : "", formats[i]->name);
	}
	return err_set(e, -EINVAL, "\"%s\": no such format; there are: %s",
		       name, names);
}
