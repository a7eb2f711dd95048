#include "report/reference.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { COLUMNS = 5 };

#define TABLE_BYTES_MAX ((size_t)16 << 20)

static const char heading[] = "test,protocol,volume,up,down";

/* Cuts @line at its commas; -1 where it has not five cells. */
static int split(char *line, char *cells[COLUMNS])
{
	int n;

	for (n = 0; line; n++) {
		if (n == COLUMNS)
			return -1;
		cells[n] = strsep(&line, ",");
	}
	return n == COLUMNS ? 0 : -1;
}

static bool parse_number(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && isfinite(*value) && *value > 0;
}

static int add_line(struct reference *r, char *cells[COLUMNS], const char *path,
		    size_t number, struct err *e)
{
	struct reference_line *more = realloc(r->lines, (r->nr_lines + 1) *
								sizeof(*more)),
			      *l;

	if (!more)
		return err_set(e, -ENOMEM, "no memory for \"%s\"", path);
	r->lines = more;
	l = &more[r->nr_lines];
	if (strlen(cells[0]) >= sizeof(l->test) ||
	    strlen(cells[1]) >= sizeof(l->protocol) ||
	    strlen(cells[2]) >= sizeof(l->volume) ||
	    !parse_number(cells[3], &l->up_mb_s) ||
	    !parse_number(cells[4], &l->down_mb_s))
		return err_set(e, -EINVAL,
			       "\"%s\" line %zu: up and down must be MB/s, "
			       "names at most 60 letters long",
			       path, number);
	strcpy(l->test, cells[0]);
	strcpy(l->protocol, cells[1]);
	strcpy(l->volume, cells[2]);
	r->nr_lines++;
	return 0;
}

static int parse(struct reference *r, char *text, const char *path,
		 struct err *e)
{
	bool has_heading = false;
	char *cells[COLUMNS], *line;
	size_t number = 0;
	int err;

	while ((line = strsep(&text, "\n"))) {
		number++;
		line[strcspn(line, "\r")] = '\0';
		if (!*line || *line == '#')
			continue;
		if (!has_heading && strcmp(line, heading) != 0)
			return err_set(e, -EINVAL,
				       "\"%s\" line %zu: the heading must be "
				       "%s",
				       path, number, heading);
		if (!has_heading) {
			has_heading = true;
			continue;
		}
		if (split(line, cells))
			return err_set(e, -EINVAL,
				       "\"%s\" line %zu: not five cells", path,
				       number);
		err = add_line(r, cells, path, number, e);
		if (err)
			return err;
	}
	return r->nr_lines
		       ? 0
		       : err_set(e, -EINVAL, "\"%s\": no figures in it", path);
}

int reference_read(struct reference *r, const char *path, struct err *e)
{
	char *text;
	size_t len;
	int err;

	memset(r, 0, sizeof(*r));
	err = file_read(path, TABLE_BYTES_MAX, &text, &len, e);
	if (err)
		return err;
	r->name = strdup(path);
	err = r->name ? parse(r, text, path, e)
		      : err_set(e, -ENOMEM, "no memory for \"%s\"", path);
	free(text);
	if (err)
		reference_release(r);
	return err;
}

void reference_release(struct reference *r)
{
	free(r->lines);
	free(r->name);
	memset(r, 0, sizeof(*r));
}
