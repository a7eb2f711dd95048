#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* Reading a result document, and writing its texts where they must not do
 * harm: a result may come from anywhere. */

/* "" and 0 where there is none. */
const char *text_of(const json_t *o, const char *key);
json_int_t int_of(const json_t *o, const char *key);
double number_of(const json_t *o, const char *key);

/* Control characters, which steer terminals, become '?'; cut between two
 * characters where @size ends. */
void text_clean(char *to, size_t size, const char *from);

/* In characters, not bytes. */
int text_width(const char *s);

/* @head, then @text made printable and broken at blanks, so that lines keep
 * within @width where they can; all but the first are indented as far as @head
 * is long. With a line end. */
void text_put_wrapped(FILE *out, const char *head, const char *text, int width);

/* A sentence without what is in quotes, without numbers, and without the count
 * of others like it that it holds for: what sentences of one kind have in
 * common. */
enum { TEXT_SHAPE = 200 };
void text_shape(char shape[TEXT_SHAPE], const char *text);

/* Cuts the password out of "//user%password@host" and "//user:password@host".
 * A password may hold anything but blanks: up to the last '@'. */
void text_mask_urls(char *text);

/* Content or an attribute of XML or HTML: escaped, and without the control
 * characters that XML 1.0 has no place for. */
void text_put_xml(FILE *out, const char *text);

#endif
