#ifndef COMMANDS_CAPTURE_H
#define COMMANDS_CAPTURE_H

#include <argp.h>
#include <stddef.h>

#include "commands/request.h"

/*
 * --pcap FILE: what passes the sockets of a command's sessions, in a capture.
 * The request holds what was asked for, and the file.
 */
extern const struct argp_option capture_options[];
error_t capture_parse(int key, char *arg, struct request *r);

/* Makes the file, if one was asked for, before the first session. An exit
 * status after saying why not. request_release() closes it. */
int capture_open(struct request *r);

/* What the result should say of it: "" where nothing is captured. */
void capture_note(const struct request *r, char *text, size_t size);

/* For commands that make no result: says, if so, that the capture ended early,
 * and makes @status STATUS_TARGET if it was good. */
int capture_end(const struct request *r, int status);

#endif
