#include "base/numbers.h"

#include <stdio.h>
#include <string.h>

char *lx_format_count(char *out, size_t size, uint64_t value)
{
	char digits[LX_NUMBER_SIZE];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	for (unsigned written = 0; written == 0 || value; written++) {
		if (written && written % 3 == 0)
			digits[--at] = ',';
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	}
	snprintf(out, size, "%s", digits + at);
	return out;
}

/* Three significant digits of 0.000 to 999.5. */
static int three_digits(char *out, size_t size, double value)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	return snprintf(out, size, "%.*f", decimals, value);
}

static double scale(double ns, const char **unit)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1, "ns" }, { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" } };
	unsigned at = 0;

	while (at < 3 && ns >= 999.5 * units[at].ns)
		at++;
	*unit = units[at].name;
	return ns / units[at].ns;
}

char *lx_format_duration(char *out, size_t size, double ns)
{
	char number[LX_NUMBER_SIZE];
	const char *unit;
	double value = scale(ns, &unit);

	if (strcmp(unit, "ns") == 0) /* no clock has fractions of it */
		snprintf(number, sizeof(number), "%.0f", value);
	else
		three_digits(number, sizeof(number), value);
	snprintf(out, size, "%s %2s", number, unit);
	return out;
}

char *lx_format_seconds(char *out, size_t size, double ns)
{
	char number[LX_NUMBER_SIZE];
	const char *unit;
	double value = scale(ns, &unit);

	if (strcmp(unit, "ns") == 0)
		snprintf(number, sizeof(number), "%.0f", value);
	else if (strcmp(unit, "ms") == 0 && value >= 10) { /* "0.032 s" reads easier among seconds */
		snprintf(number, sizeof(number), "%.3f", value / 1e3);
		unit = "s";
	} else
		three_digits(number, sizeof(number), value);
	snprintf(out, size, "%s %s", number, unit);
	return out;
}

char *lx_format_bytes(char *out, size_t size, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB", "PB", "EB" };
	char number[LX_NUMBER_SIZE];
	double value = (double)bytes;
	unsigned at = 0;

	for (; value >= 999.5 && at < 6; at++)
		value /= 1e3;
	if (at == 0)
		snprintf(number, sizeof(number), "%.0f", value);
	else
		three_digits(number, sizeof(number), value);
	snprintf(out, size, "%s %s", number, units[at]);
	return out;
}

char *lx_format_plural(char *out, size_t size, uint64_t count, const char *word)
{
	char number[LX_NUMBER_SIZE];
	size_t length = strlen(word);
	const char *ending = count == 1 ? "" : length && word[length - 1] == 's' ? "es" : "s";

	snprintf(out, size, "%s %s%s", lx_format_count(number, sizeof(number), count), word, ending);
	return out;
}
