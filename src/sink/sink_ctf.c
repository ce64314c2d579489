#include "sink/sink.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

#define FILE_PATH_SIZE (LX_PATH_SIZE + 64)

static void stream_path(char path[FILE_PATH_SIZE], const char *folder, unsigned stream)
{
	snprintf(path, FILE_PATH_SIZE, "%s/stream-%u", folder, stream);
}

static void packet_path(char path[FILE_PATH_SIZE], const char *folder, unsigned stream)
{
	snprintf(path, FILE_PATH_SIZE, "%s/lextrace/packet-%u", folder, stream);
}

static int ctf_map(const char *folder, unsigned stream, size_t size, void *address, void **out)
{
	char path[FILE_PATH_SIZE];

	packet_path(path, folder, stream);
	return lx_file_map(path, 0, size, address, out);
}

static int ctf_append(const char *folder, unsigned stream, uint64_t at, const struct lx_packet *packet, size_t size)
{
	char path[FILE_PATH_SIZE];

	stream_path(path, folder, stream);
	return lx_file_append(path, at, packet, size);
}

static void ctf_release(const char *folder, unsigned stream)
{
	char path[FILE_PATH_SIZE];

	packet_path(path, folder, stream);
	unlink(path);
}

const struct lx_sink lx_sink_ctf = {ctf_map, ctf_append, ctf_release};
