#include "report/steady.h"

#include <math.h>

/* The slope of the least-squares line through (0, x[0]), (1, x[1]) ... */
static double slope(const double *x, size_t n, double mean)
{
	double middle = (double)(n - 1) / 2, above = 0, below = 0, d;
	size_t i;

	for (i = 0; i < n; i++) {
		d = (double)i - middle;
		above += d * (x[i] - mean);
		below += d * d;
	}
	return below > 0 ? above / below : 0;
}

static void look(struct steady *s, const double *x, size_t n)
{
	double low = x[0], high = x[0], mean = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		mean += (x[i] - mean) / (double)(i + 1);
		low = fmin(low, x[i]);
		high = fmax(high, x[i]);
	}
	if (!(mean > 0) || !isfinite(mean))
		return;
	s->mean = mean;
	s->range = (high - low) / mean;
	s->excursion = fabs(slope(x, n, mean)) * (double)(n - 1) / mean;
}

void steady_check(struct steady *s, const double x[], size_t n)
{
	size_t first = n > STEADY_ROUNDS ? n - STEADY_ROUNDS : 0, i;

	*s = (struct steady){.is_over = n >= STEADY_ROUNDS_MOST};
	if (!n)
		return;
	for (i = first; i < n; i++)
		if (!isfinite(x[i]) || x[i] < 0)
			return;
	look(s, x + first, n - first);
	/* A value on the limit is within it, whatever the last bit says. */
	s->is_steady = n >= STEADY_ROUNDS && s->mean > 0 &&
		       s->range <= STEADY_RANGE * (1 + 1e-12) &&
		       s->excursion <= STEADY_EXCURSION * (1 + 1e-12);
	if (s->is_steady)
		s->is_over = false;
}

size_t steady_after(const double x[], size_t n)
{
	struct steady s;
	size_t i;

	for (i = STEADY_ROUNDS; i <= n; i++) {
		steady_check(&s, x, i);
		if (s.is_steady)
			return i;
	}
	return 0;
}
