#ifndef REPORT_COMPARE_PARTS_H
#define REPORT_COMPARE_PARTS_H

#include "report/compare.h"

/* How a comparison is put together. */

/* Judges @item, which it copies. */
int comparison_add(struct comparison *c, const struct comparison_item *item,
		   struct err *e);

/* False on no memory. */
__attribute__((format(printf, 2, 3))) bool comparison_note(struct comparison *c,
							   const char *fmt,
							   ...);
/* What was left out of @s, what of it is only a part, or scaled down. */
bool comparison_note_set(struct comparison *c, const struct set *s);

#endif
