#include "report/stats.h"

#include <math.h>

void stats_summarize(const double *x, size_t n, struct summary *s)
{
	double delta, squares = 0;
	size_t i;

	*s = (struct summary){.n = n, .half = NAN};
	/* Welford: equal values give their value and exactly no deviation. */
	for (i = 0; i < n; i++) {
		delta = x[i] - s->mean;
		s->mean += delta / (double)(i + 1);
		squares += delta * (x[i] - s->mean);
	}
	if (n < 2)
		return;
	s->sd = sqrt(squares / (double)(n - 1));
	s->half = stats_t((double)(n - 1)) * s->sd / sqrt((double)n);
}

double stats_effective_n(const double *x, size_t n)
{
	double own = 0, next = 0, r;
	struct summary s;
	size_t i;

	stats_summarize(x, n, &s);
	for (i = 0; i < n; i++) {
		own += (x[i] - s.mean) * (x[i] - s.mean);
		if (i + 1 < n)
			next += (x[i] - s.mean) * (x[i + 1] - s.mean);
	}
	r = own > 0 ? next / own : 0;
	if (r <= 0 || n <= 2)
		return (double)n;
	return fmax(2, (double)n * (1 - r) / (1 + r));
}

/* --- Student's t --- */

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by
 * Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f, term, step;
	int m;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (m = 1; m < 1000; m++) {
		term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 / (1 + term * d);
		c = 1 + term / c;
		f *= d * c;
		term = -(a + m) * (a + b + m) * x /
		       ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / (1 + term * d);
		c = 1 + term / c;
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return f;
}

/* I_x(a, b), DLMF 8.17. */
static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) +
		    b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* The share of the distribution beyond +-t. */
static double both_tails(double t, double df)
{
	return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

double stats_t(double df)
{
	double low = 0, high = 1, middle;
	int i;

	if (!(df > 0))
		return INFINITY;
	if (df > 1e7)
		return 1.959963984540054;
	while (both_tails(high, df) > 0.05 && high < 1e300)
		high *= 2;
	for (i = 0; i < 200 && high - low > 1e-13 * high; i++) {
		middle = (low + high) / 2;
		if (both_tails(middle, df) > 0.05)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

struct estimate stats_estimate(const struct summary *s)
{
	if (s->n < 2)
		return (struct estimate){.mean = s->mean, .se = NAN};
	return (struct estimate){.mean = s->mean,
				 .se = s->sd / sqrt((double)s->n),
				 .df = (double)(s->n - 1)};
}

/* --- two of them --- */

/* Half the width for two variances of a mean. */
static double welch(double va, double dfa, double vb, double dfb)
{
	double v = va + vb, weight;

	if (v == 0)
		return 0;
	weight = va * va / dfa + vb * vb / dfb;
	return stats_t(weight > 0 ? v * v / weight : INFINITY) * sqrt(v);
}

static bool is_known(const struct estimate *a)
{
	return isfinite(a->mean) && isfinite(a->se);
}

bool stats_difference(const struct estimate *a, const struct estimate *b,
		      struct interval *i)
{
	double half;

	if (!is_known(a) || !is_known(b))
		return false;
	half = welch(a->se * a->se, a->df, b->se * b->se, b->df);
	i->low = a->mean - b->mean - half;
	i->high = a->mean - b->mean + half;
	return true;
}

bool stats_ratio(const struct estimate *a, const struct estimate *b,
		 struct interval *i)
{
	double va, vb, half;

	if (!is_known(a) || !is_known(b) || a->mean <= 0 || b->mean <= 0)
		return false;
	va = a->se / a->mean * (a->se / a->mean);
	vb = b->se / b->mean * (b->se / b->mean);
	half = welch(va, a->df, vb, b->df);
	i->low = a->mean / b->mean * exp(-half);
	i->high = a->mean / b->mean * exp(half);
	return true;
}
