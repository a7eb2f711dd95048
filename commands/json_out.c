#include "commands/json_out.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"

int json_out_set(bool *is_json, const char *value, struct err *e)
{
	*is_json = !strcmp(value, "json");
	if (*is_json || !strcmp(value, "text"))
		return 0;
	return err_set(e, -EINVAL,
		       "--output-format: \"%s\" is not text or json", value);
}

int json_out_print(json_t *j)
{
	int bad = !j || json_dumpf(j, stdout, JSON_INDENT(2)) ||
		  putchar('\n') == EOF || fflush(stdout);

	json_decref(j);
	if (bad)
		say("cannot write the JSON to standard output");
	return bad ? STATUS_TARGET : STATUS_OK;
}
