#ifndef INITIATOR_CHAP_H
#define INITIATOR_CHAP_H

#include "base/err.h"
#include "initiator/url.h"

/* The part of url_parse() that is about CHAP: names and secrets that are not
 * in the URL come from the environment, then from the file; and what RFC 7143
 * section 9.2.1 has to say about them. No text ever holds a secret. */

enum { CHAP_SECRET_MAX = 255 }; /* bytes, of a name too */

int chap_complete(struct url *u, char *warning, struct err *e);

#endif
