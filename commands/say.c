#include "commands/commands.h"

#include <stdarg.h>
#include <stdio.h>

void say(const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_make_printable(text);
	/* In one call: stderr is unbuffered, and lines of a run must not mix
	 * with what another process writes there. */
	fprintf(stderr, "lunbench: %s\n", text);
}

int say_err(const struct err *e, int status)
{
	say("%s", e->text[0] ? e->text : "failed without a reason (a bug)");
	return status;
}
