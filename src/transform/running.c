#include "transform/running.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool on_this_host(const struct lx_process *process)
{
	char host[256] = "";

	/* LX_PROCESS_KEYS begins with the host. */
	if (!process->key[0] || gethostname(host, sizeof(host) - 1) < 0)
		return true;
	return strcmp(host, process->key[0]) == 0;
}

/* 1 the process maps the state file, 0 it does not, negative errno: can't be seen. */
static int maps_state(uint32_t pid, const char *folder)
{
	char path[4096], *line = NULL;
	size_t room = 0;
	struct stat status;
	int found = 0;

	snprintf(path, sizeof(path), "%s/lextrace/state", folder);
	if (stat(path, &status) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	FILE *file = fopen(path, "re");

	if (!file)
		return -errno;
	while (!found && getline(&line, &room, file) > 0) {
		unsigned long inode;
		int name = 0;

		/* The device is left out: some file systems show another one here than in stat. */
		if (sscanf(line, "%*s %*s %*s %*s %lu %n", &inode, &name) >= 1 && inode == status.st_ino &&
		    strstr(line + name, "/state"))
			found = 1;
	}
	/* The file of another user's process opens, and gives an error when read. */
	if (!found && ferror(file))
		found = -EACCES;
	free(line);
	fclose(file);
	return found;
}

/* Realtime ns of the start of a process; 0 unknown. */
static uint64_t started_at(uint32_t pid)
{
	char path[64], text[1024];
	unsigned long long start;
	struct timespec now, boot;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	FILE *file = fopen(path, "re");

	if (!file)
		return 0;
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	char *rest = strrchr(text, ')'); /* the name may hold anything */

	if (!rest || sscanf(rest + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
			    &start) != 1)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	uint64_t booted = (uint64_t)(now.tv_sec - boot.tv_sec) * 1000000000u;

	return booted + start * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

bool lx_process_running(const struct lx_process *process)
{
	const uint64_t slack = 2000000000u; /* ns: a process' start is known in 10 ms, the boot's in seconds */
	uint32_t pid = process->state.pid;
	int mapped;

	if (process->state.magic != LX_STATE_MAGIC || process->state.ended != 0 || pid == 0 || pid > INT32_MAX)
		return false;
	if (!on_this_host(process) || (kill((pid_t)pid, 0) < 0 && errno == ESRCH))
		return false;
	mapped = maps_state(pid, process->folder);
	if (mapped >= 0)
		return mapped == 1;
	return started_at(pid) <= process->state.start.realtime + slack;
}
