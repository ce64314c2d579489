#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int lx_clock_is_tsc;

#define SHORTEST_BASE_NS 200000u /* between two samples, for a frequency good to about 100 ppm */

void lx_clock_init(void)
{
	static int chosen;

	if (chosen)
		return;
	chosen = 1;
#if defined(__x86_64__)
	char name[16] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	ssize_t size = read(fd, name, sizeof(name) - 1);

	close(fd);
	/* The kernel keeps "tsc" only while it finds the counter constant, nonstop and the same on all CPUs. */
	lx_clock_is_tsc = size >= 3 && strncmp(name, "tsc", 3) == 0;
#endif
}

void lx_clock_sample(struct lx_clock_sample *sample)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before = lx_ticks();
		uint64_t monotonic = lx_clock_ns(CLOCK_MONOTONIC);
		uint64_t realtime = lx_clock_ns(CLOCK_REALTIME);
		uint64_t width = lx_ticks() - before;

		if (width < best) {
			best = width;
			sample->ticks = before + width / 3; /* the monotonic clock was read about there */
			sample->monotonic = monotonic;
			sample->realtime = realtime;
		}
	}
}

uint64_t lx_clock_frequency(const struct lx_clock_sample *from, const struct lx_clock_sample *to)
{
	struct lx_clock_sample now = *to;

	if (!lx_clock_is_tsc || from->monotonic > now.monotonic)
		return 1000000000u;
	while (now.monotonic < from->monotonic + SHORTEST_BASE_NS)
		lx_clock_sample(&now);
	return (uint64_t)((double)(now.ticks - from->ticks) * 1e9 / (double)(now.monotonic - from->monotonic) + 0.5);
}
