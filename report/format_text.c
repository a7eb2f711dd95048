#include "report/formats.h"
#include "report/table.h"
#include "report/text.h"

/* Each result as `run` printed it. */
static int write_text(const struct set *s, const struct comparison *beside,
		      FILE *out, struct err *e)
{
	char clean[1024];
	size_t i;

	(void)e;
	for (i = 0; i < s->nr_files; i++) {
		text_clean(clean, sizeof(clean), s->files[i].path);
		if (s->nr_files > 1)
			fprintf(out, "%s== %s\n", i ? "\n" : "", clean);
		table_print(s->files[i].doc, 0, out);
	}
	for (i = 0; i < s->nr_warnings; i++) {
		text_clean(clean, sizeof(clean), s->warnings[i]);
		fprintf(out, "warning: left out: %s\n", clean);
	}
	if (beside) {
		fputc('\n', out);
		compare_print(beside, out);
	}
	return 0;
}

const struct format format_text = {.name = "text", .write = write_text};
