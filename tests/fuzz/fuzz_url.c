#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/url.h"

/* Any bytes as a URL. What is accepted is in range and reads back from what is
 * shown; what is refused has a sentence; neither shows the password "S3CRET".
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_once(const char *text)
{
	return !strstr(strstr(text, "S3CRET") + 1, "S3CRET");
}

static void check_accepted(const struct url *u)
{
	struct url again;
	struct err e;

	if (strcmp(u->scheme, "iscsi") != 0)
		return;
	if (!u->port || u->lun > 16383 || !u->host[0] ||
	    strlen(u->target) > 223)
		abort();
	/* a target with a % or ? in it is shown decoded */
	if (strpbrk(u->target, "%?/"))
		return;
	if (url_parse(&again, u->display, u->has_lun, NULL, &e) ||
	    again.port != u->port || again.lun != u->lun ||
	    strcmp(again.host, u->host) != 0 ||
	    strcmp(again.target, u->target) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), warning[256];
	struct err e = {0};
	struct url u;

	memcpy(text, data, size);
	text[size] = '\0';
	for (int need_lun = 0; need_lun < 2; need_lun++) {
		int ret = url_parse(&u, text, need_lun, warning, &e);

		if (ret ? !e.text[0] : !u.display[0])
			abort();
		if (!ret && strstr(u.password, "S3CRET") && is_once(text) &&
		    (strstr(u.display, "S3CRET") || strstr(warning, "S3CRET")))
			abort();
		if (!ret)
			check_accepted(&u);
		url_wipe(&u);
	}
	free(text);
	return 0;
}
