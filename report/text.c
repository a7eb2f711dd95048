#include "report/text.h"

#include <stdbool.h>
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

json_int_t int_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

double number_of(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* Bytes of the character that begins with @c, in UTF-8. */
static size_t character_bytes(unsigned char c)
{
	if (c < 0xc0)
		return 1;
	return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* The C1 controls are C2 80 to C2 9F. jansson lets nothing but UTF-8 in; names
 * of files come from elsewhere and may end inside a character. */
void text_clean(char *to, size_t size, const char *from)
{
	const unsigned char *f = (const unsigned char *)from;
	size_t n = 0, bytes;

	for (; *f; f += bytes) {
		bytes = strnlen((const char *)f, character_bytes(*f));
		if (n + bytes >= size)
			break;
		if (*f < 0x20 || *f == 0x7f || (*f == 0xc2 && f[1] < 0xa0)) {
			to[n++] = '?';
			continue;
		}
		memcpy(to + n, f, bytes);
		n += bytes;
	}
	to[n] = '\0';
}

int text_width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* In characters, up to the next blank. */
static int word_width(const char *s)
{
	int n = 0;

	for (; *s && *s != ' '; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

void text_put_wrapped(FILE *out, const char *head, const char *text, int width)
{
	int indent = text_width(head), at = indent, word;
	bool is_first = true;
	char clean[2048];
	const char *s;

	text_clean(clean, sizeof(clean), text);
	fputs(head, out);
	for (s = clean + strspn(clean, " "); *s; s += strspn(s, " ")) {
		word = word_width(s);
		if (!is_first && at + 1 + word > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (!is_first) {
			fputc(' ', out);
			at++;
		}
		fwrite(s, 1, strcspn(s, " "), out);
		s += strcspn(s, " ");
		at += word;
		is_first = false;
	}
	fputc('\n', out);
}

void text_shape(char shape[TEXT_SHAPE], const char *text)
{
	const char *more = strstr(text, " more of this job like it)");
	size_t n = 0;
	bool is_quoted = false;

	if (!more)
		more = strstr(text, " more like it, in other jobs too)");
	while (more && more > text && *more != '(')
		more--;
	for (; *text && text != more && n + 1 < TEXT_SHAPE; text++) {
		if (*text == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && !isdigit((unsigned char)*text))
			shape[n++] = *text;
	}
	while (n && shape[n - 1] == ' ')
		n--;
	shape[n] = '\0';
}

void text_mask_urls(char *text)
{
	char *at, *mark, *end, *user = text;

	while ((user = strstr(user, "//"))) {
		user += 2;
		end = user + strcspn(user, " \t");
		at = memrchr(user, '@', end - user);
		if (!at)
			continue;
		mark = user + strcspn(user, "%:");
		if (mark < at)
			memmove(mark, at, strlen(at) + 1);
	}
}

/* U+FFFE and U+FFFF. */
static int is_noncharacter(const unsigned char *s)
{
	return s[0] == 0xef && s[1] == 0xbf && (s[2] == 0xbe || s[2] == 0xbf);
}

void text_put_xml(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	for (; *s; s++) {
		if (*s == '&')
			fputs("&amp;", out);
		else if (*s == '<')
			fputs("&lt;", out);
		else if (*s == '>')
			fputs("&gt;", out);
		else if (*s == '"')
			fputs("&quot;", out);
		else if (*s == '\'')
			fputs("&#39;", out);
		else if ((*s < 0x20 && *s != '\n') || *s == 0x7f) {
			fputc('?', out);
		} else if (is_noncharacter(s)) {
			fputc('?', out);
			s += 2;
		} else {
			fputc(*s, out);
		}
	}
}
