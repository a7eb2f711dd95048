#include "workloads/jobfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"

enum {
	FILE_MAX_BYTES = 4 << 20,
	LINE_MAX_BYTES = 8192,
	DEPTH_MAX = 16,
	FILES_MAX = 1000, /* includes of includes grow fast */
	SECTIONS_MAX = 4096,
};

/* One file that is being read; a chain of them while includes are open. */
struct reader {
	struct jobfile *f;
	const struct reader *parent; /* who included us, or NULL */
	const char *name;
	unsigned int line;
	unsigned int depth;
	unsigned int *nr_files;
	bool is_memory;
	dev_t dev;
	ino_t ino;
	struct err *e;
};

static int fail(const struct reader *r, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(const struct reader *r, int code, const char *fmt, ...)
{
	char text[sizeof(r->e->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(r->e, code, "%s:%u: %s", r->name, r->line, text);
}

static char *place_of(const struct reader *r)
{
	char *place;

	return asprintf(&place, "%s:%u", r->name, r->line) < 0 ? NULL : place;
}

/* Room for one more element: doubles at each power of two. */
static void *grow(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return reallocarray(array, nr ? nr * 2 : 1, size);
}

static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return s;
}

/* --- sections --- */

static int add_section(const struct reader *r, char *line)
{
	char *end = strrchr(line, ']'), *name = line + 1;
	struct jobfile *f = r->f;
	struct section *grown, *s;

	if (!end || end[1])
		return fail(r, -EINVAL,
			    "\"%.80s\" is not a section; write [name]", line);
	*end = '\0';
	name = trim(name);
	if (!*name)
		return fail(r, -EINVAL, "the section has no name");
	if (r->parent)
		return fail(r, -EINVAL,
			    "section [%.80s] in an included file; an included "
			    "file may hold only settings",
			    name);
	if (f->nr_sections == SECTIONS_MAX)
		return fail(r, -E2BIG, "there are more than %d sections",
			    SECTIONS_MAX);
	grown = grow(f->sections, f->nr_sections, sizeof(*grown));
	if (!grown)
		return fail(r, -ENOMEM, "out of memory");
	f->sections = grown;
	s = &f->sections[f->nr_sections++];
	memset(s, 0, sizeof(*s));
	s->name = strdup(name);
	s->place = place_of(r);
	s->is_global = !strncmp(name, "global", 6);
	return s->name && s->place ? 0 : fail(r, -ENOMEM, "out of memory");
}

/* --- settings --- */

struct text {
	char bytes[LINE_MAX_BYTES + 1];
	size_t len;
};

static int append(const struct reader *r, struct text *t, const char *from,
		  size_t len)
{
	if (len > LINE_MAX_BYTES - t->len)
		return fail(r, -E2BIG,
			    "the value is over %d bytes with its environment "
			    "variables",
			    LINE_MAX_BYTES);
	memcpy(t->bytes + t->len, from, len);
	t->len += len;
	t->bytes[t->len] = '\0';
	return 0;
}

/*
 * ${NAME} becomes the variable's value, or nothing where it is not set (HOWTO,
 * "Environment variables"). That a whole value vanishes is never meant, but for
 * keys that do not matter here; of unknown ones jobset_build() tells.
 */
static int expand(const struct reader *r, const char *key, const char *value,
		  struct text *out)
{
	const struct option_desc *d = option_find(key);
	const char *p = value, *start, *end, *env;
	char name[256] = "";
	int ret = 0;

	out->len = 0;
	out->bytes[0] = '\0';
	while (!ret && (start = strstr(p, "${")) &&
	       (end = strchr(start, '}'))) {
		ret = append(r, out, p, (size_t)(start - p));
		snprintf(name, sizeof(name), "%.*s", (int)(end - start - 2),
			 start + 2);
		env = getenv(name);
		if (!ret && env)
			ret = append(r, out, env, strlen(env));
		p = end + 1;
	}
	if (!ret)
		ret = append(r, out, p, strlen(p));
	if (!ret && !out->len && *value && d &&
	    d->kind != OPTION_NOT_APPLICABLE)
		return fail(r, -EINVAL,
			    "\"%.80s\" is empty: the environment variable "
			    "\"%.80s\" is not set",
			    key, name);
	return ret;
}

static int add_setting(const struct reader *r, char *line)
{
	char *equals = strchr(line, '='), *key, *value = NULL;
	struct section *s;
	struct setting *grown, *set;
	struct text text;
	int ret;

	if (equals) {
		*equals = '\0';
		value = trim(equals + 1);
	}
	key = trim(line);
	if (!*key)
		return fail(r, -EINVAL, "there is no key before the \"=\"");
	if (!r->f->nr_sections)
		return fail(r, -EINVAL,
			    "\"%.80s\" stands before the first section; begin "
			    "with [global] or [name]",
			    key);
	if (value) {
		ret = expand(r, key, value, &text);
		if (ret)
			return ret;
		value = text.bytes;
	}
	s = &r->f->sections[r->f->nr_sections - 1];
	grown = grow(s->settings, s->nr_settings, sizeof(*grown));
	if (!grown)
		return fail(r, -ENOMEM, "out of memory");
	s->settings = grown;
	set = &s->settings[s->nr_settings++];
	set->key = strdup(key);
	set->value = value ? strdup(value) : NULL;
	set->place = place_of(r);
	if (!set->key || !set->place || (value && !set->value))
		return fail(r, -ENOMEM, "out of memory");
	return 0;
}

/* --- include --- */

static int parse_text(struct reader *r, char *text, size_t len);

static int check_cycle(const struct reader *r, const char *path,
		       struct reader *child)
{
	const struct reader *p;
	struct stat st;

	if (stat(path, &st) < 0)
		return fail(r, -errno, "cannot include \"%.200s\": %s", path,
			    strerror(errno));
	for (p = r; p; p = p->parent)
		if (p->dev == st.st_dev && p->ino == st.st_ino)
			return fail(r, -ELOOP,
				    "\"%.200s\" includes itself; take one "
				    "include out",
				    path);
	if (r->depth + 1 > DEPTH_MAX)
		return fail(r, -ELOOP, "more than %d files include each other",
			    DEPTH_MAX);
	if (++*r->nr_files > FILES_MAX)
		return fail(r, -ELOOP, "more than %d files are included",
			    FILES_MAX);
	child->dev = st.st_dev;
	child->ino = st.st_ino;
	return 0;
}

/* @file as written: from the folder of the including file. */
static int include(const struct reader *r, const char *file)
{
	const char *slash = strrchr(r->name, '/');
	struct reader child = *r;
	char *path = NULL, *text = NULL;
	size_t len;
	struct err why;
	int ret;

	if (r->is_memory)
		return fail(r, -EINVAL, "include is not possible here");
	if (!r->f->nr_sections)
		return fail(r, -EINVAL,
			    "the include stands before the first section; "
			    "begin with [global] or [name]");
	if (!*file)
		return fail(r, -EINVAL, "include without a file name");
	if (asprintf(&path, "%.*s%s",
		     *file == '/' || !slash ? 0 : (int)(slash - r->name + 1),
		     r->name, file) < 0)
		return fail(r, -ENOMEM, "out of memory");
	ret = check_cycle(r, path, &child);
	if (ret)
		goto out;
	ret = file_read(path, FILE_MAX_BYTES, &text, &len, &why);
	if (ret) {
		fail(r, ret, "include: %s", why.text);
		goto out;
	}
	child.parent = r;
	child.name = path;
	child.line = 0;
	child.depth = r->depth + 1;
	ret = parse_text(&child, text, len);
out:
	free(text);
	free(path);
	return ret;
}

/* --- lines --- */

/* What a text file cannot hold: a terminal must not get it in an error. */
static int check_line(const struct reader *r, const char *line, size_t len)
{
	size_t i;

	if (len > LINE_MAX_BYTES)
		return fail(r, -E2BIG,
			    "the line is %zu bytes long; the limit is %d", len,
			    LINE_MAX_BYTES);
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)line[i];

		if ((c < ' ' && !isspace(c)) || c == 0x7f)
			return fail(r, -EINVAL,
				    "byte 0x%02x at column %zu; is this a text "
				    "file?",
				    c, i + 1);
	}
	return 0;
}

/* "#lunbench: key=value": a setting that fio takes for a comment. Its value
 * goes on to the end of the line. NULL: it is none. */
static char *find_rule(char *line)
{
	static const char mark[] = "lunbench:";

	line = trim(line);
	if ((*line != '#' && *line != ';') ||
	    strncmp(line + 1, mark, strlen(mark)) != 0)
		return NULL;
	line = trim(line + 1 + strlen(mark));
	return line;
}

/* "# lunbench: clients=4": meant for us, and passed over by all. Prose has no
 * key there. */
static bool is_nearly_rule(const char *line)
{
	static const char word[] = "lunbench", blanks[] = " \t";
	char key[64];

	line += strspn(line, blanks);
	if (*line != '#' && *line != ';')
		return false;
	line += strspn(line, "#; \t");
	if (strncasecmp(line, word, strlen(word)) != 0)
		return false;
	line += strlen(word);
	line += strspn(line, blanks);
	if (*line++ != ':')
		return false;
	line += strspn(line, blanks);
	snprintf(key, sizeof(key), "%.*s", (int)strcspn(line, "= \t"), line);
	line += strcspn(line, "= \t");
	return line[strspn(line, blanks)] == '=' && option_find(key);
}

static int parse_line(struct reader *r, char *line, size_t len)
{
	int ret = check_line(r, line, len);
	char *rule;

	if (ret)
		return ret;
	rule = find_rule(line);
	if (!rule && is_nearly_rule(line))
		return fail(r, -EINVAL,
			    "a setting for lunbench begins with "
			    "\"#lunbench:\", without blanks and in small "
			    "letters");
	if (rule)
		return *rule ? add_setting(r, rule)
			     : fail(r, -EINVAL,
				    "there is no key after \"lunbench:\"");
	line[strcspn(line, ";#")] = '\0';
	line = trim(line);
	if (!*line)
		return 0;
	if (*line == '[')
		return add_section(r, line);
	if (!strncmp(line, "include", 7) &&
	    (!line[7] || isspace((unsigned char)line[7]) || line[7] == '='))
		return include(r, trim(line + 7 + (line[7] != '\0')));
	return add_setting(r, line);
}

/* @text is cut up; @text[@len] is ours. */
static int parse_text(struct reader *r, char *text, size_t len)
{
	char *end = text + len, *next;
	int ret = 0;

	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) /* a Windows editor */
		text += 3;
	for (; !ret && text < end; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		if (!next)
			next = end;
		*next = '\0';
		r->line++;
		ret = parse_line(r, text, (size_t)(next - text));
	}
	return ret;
}

static int check_jobs(const struct reader *r)
{
	size_t i;

	for (i = 0; i < r->f->nr_sections; i++)
		if (!r->f->sections[i].is_global)
			return 0;
	return err_set(r->e, -EINVAL,
		       "\"%s\" has no job; add a section such as [job1]",
		       r->name);
}

int jobfile_read(struct jobfile *f, const char *path, struct err *e)
{
	unsigned int nr_files = 0;
	struct reader r = {.f = f, .name = path, .nr_files = &nr_files, .e = e};
	struct stat st;
	char *text;
	size_t len;
	int ret;

	memset(f, 0, sizeof(*f));
	ret = file_read(path, FILE_MAX_BYTES, &text, &len, e);
	if (ret)
		return ret;
	if (!stat(path, &st)) {
		r.dev = st.st_dev;
		r.ino = st.st_ino;
	}
	ret = parse_text(&r, text, len);
	if (!ret)
		ret = check_jobs(&r);
	free(text);
	if (ret)
		jobfile_release(f);
	return ret;
}

int jobfile_parse(struct jobfile *f, const char *name, const char *text,
		  size_t len, struct err *e)
{
	unsigned int nr_files = 0;
	struct reader r = {.f = f,
			   .name = name,
			   .nr_files = &nr_files,
			   .is_memory = true,
			   .e = e};
	char *copy = malloc(len + 1);
	int ret;

	memset(f, 0, sizeof(*f));
	if (!copy)
		return err_set(e, -ENOMEM, "out of memory");
	memcpy(copy, text, len);
	copy[len] = '\0';
	ret = parse_text(&r, copy, len);
	if (!ret)
		ret = check_jobs(&r);
	free(copy);
	if (ret)
		jobfile_release(f);
	return ret;
}

void jobfile_release(struct jobfile *f)
{
	size_t i, j;

	for (i = 0; i < f->nr_sections; i++) {
		struct section *s = &f->sections[i];

		for (j = 0; j < s->nr_settings; j++) {
			free(s->settings[j].key);
			free(s->settings[j].value);
			free(s->settings[j].place);
		}
		free(s->settings);
		free(s->name);
		free(s->place);
	}
	free(f->sections);
	memset(f, 0, sizeof(*f));
}
