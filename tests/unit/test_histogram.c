/* Histograms of durations: buckets, quantiles, merging, counts beyond 32 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "view/histogram.h"

/* Every value lies in a bucket whose width is at most 1/16 of it, and buckets rise with values. */
static void buckets_are_narrow(void **state)
{
	uint32_t last = 0;

	(void)state;
	for (uint64_t value = 0; value < 100000; value++) {
		uint32_t bucket = lx_histogram_bucket(value);

		assert_true(bucket == last || bucket == last + 1);
		if (value >= 32)
			assert_true(lx_histogram_bucket(value + value / 16 + 1) > bucket);
		last = bucket;
	}
	assert_true(lx_histogram_bucket(UINT64_MAX) > lx_histogram_bucket(UINT64_MAX >> 1));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Against sorting, for values of all sizes. */
static void quantiles_are_near(void **state)
{
	static const double shares[] = { 0.01, 0.5, 0.9, 0.99, 0.999, 1 };
	static uint64_t values[20000];
	struct lx_histogram histogram = { 0 };
	uint64_t seed = 12345;

	(void)state;
	for (size_t i = 0; i < 20000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		values[i] = (seed >> 20) >> (seed >> 58) % 40;
		assert_true(lx_histogram_add(&histogram, values[i]));
	}
	qsort(values, 20000, sizeof(values[0]), compare);
	assert_int_equal(lx_histogram_count(&histogram), 20000);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		uint64_t exact = values[(size_t)(shares[i] * 20000 + 0.999999) - 1];
		uint64_t found = lx_histogram_quantile(&histogram, shares[i], values[19999]);
		uint64_t off = found > exact ? found - exact : exact - found;

		assert_true(off <= exact / 32 + 1);
	}
	assert_int_equal(lx_histogram_quantile(&histogram, 1, values[19999]), values[19999]);
	lx_histogram_free(&histogram);
}

static void empty_and_single(void **state)
{
	struct lx_histogram histogram = { 0 };

	(void)state;
	assert_int_equal(lx_histogram_quantile(&histogram, 0.99, 0), 0);
	assert_true(lx_histogram_add(&histogram, 123456));
	assert_int_equal(lx_histogram_quantile(&histogram, 0.5, 123456), 123456);
	lx_histogram_free(&histogram);
}

static void merging_adds(void **state)
{
	struct lx_histogram a = { 0 }, b = { 0 }, both = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		assert_true(lx_histogram_add(&a, 5000 + i));
		assert_true(lx_histogram_add(&b, i * i * 77));
		assert_true(lx_histogram_add(&both, 5000 + i) && lx_histogram_add(&both, i * i * 77));
	}
	assert_true(lx_histogram_merge(&a, &b));
	assert_int_equal(lx_histogram_count(&a), 2000);
	for (double share = 0.05; share < 1; share += 0.05)
		assert_int_equal(lx_histogram_quantile(&a, share, 999 * 999 * 77),
				 lx_histogram_quantile(&both, share, 999 * 999 * 77));
	lx_histogram_free(&a);
	lx_histogram_free(&b);
	lx_histogram_free(&both);
}

static void counts_beyond_32_bits(void **state)
{
	struct lx_histogram histogram = { 0 }, sum = { 0 };

	(void)state;
	assert_true(lx_histogram_add(&histogram, 100));
	histogram.buckets[lx_histogram_bucket(100) - histogram.first] = UINT32_MAX;
	assert_true(lx_histogram_add(&histogram, 100));
	assert_true(lx_histogram_count(&histogram) == 1ull << 32);
	assert_true(lx_histogram_add(&histogram, 1000000)); /* grows, what was put aside moves along */
	assert_true(lx_histogram_count(&histogram) == (1ull << 32) + 1);
	assert_true(lx_histogram_merge(&sum, &histogram) && lx_histogram_merge(&sum, &histogram));
	assert_true(lx_histogram_count(&sum) == 2 * ((1ull << 32) + 1));
	lx_histogram_free(&histogram);
	lx_histogram_free(&sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_narrow),  cmocka_unit_test(quantiles_are_near),
		cmocka_unit_test(empty_and_single),    cmocka_unit_test(merging_adds),
		cmocka_unit_test(counts_beyond_32_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
