#include "decide/config.h"

#include <stdio.h>
#include <string.h>

static const struct lx_switch_info python_switches[] = {
	[LX_PY_START] = {"pysysmon_py_start", true},
	[LX_PY_RETURN] = {"pysysmon_py_return", true},
	[LX_C_START] = {"pysysmon_c_start", true},
	[LX_C_RETURN] = {"pysysmon_c_return", true},
	[LX_IMPORT] = {"pysysmon_import", false},
	{NULL, false},
};

static const struct lx_switch_info user_switches[] = {
	[LX_REGION_START] = {"region_begin", true},
	[LX_REGION_RETURN] = {"region_end", true},
	{NULL, false},
};

static const struct lx_switch_info io_switches[] = {
	{"io_begin", true}, {"io_end", true}, {NULL, false},
};

static const struct lx_switch_info openmp_switches[] = {
	{"omp_thread_begin", true},	{"omp_thread_end", true},	{"omp_parallel_begin", true},
	{"omp_parallel_end", true},	{"omp_implicit_task", true},	{"omp_work", true},
	{"omp_masked", true},		{"omp_sync_region", true},	{"omp_sync_region_wait", true},
	{"omp_task_create", true},	{"omp_task_schedule", true},	{"omp_mutex_acquire", true},
	{"omp_mutex_acquired", true},	{"omp_mutex_released", true},	{"omp_target", true},
	{"omp_target_data_op", true},	{"omp_target_submit", true},	{NULL, false},
};

/* One switch for each function. */
static const struct lx_switch_info mpi_switches[] = {
	{"MPI_Init", true},	 {"MPI_Init_thread", true},    {"MPI_Finalize", true},
	{"MPI_Send", true},	 {"MPI_Recv", true},	       {"MPI_Sendrecv", true},
	{"MPI_Isend", true},	 {"MPI_Irecv", true},	       {"MPI_Wait", true},
	{"MPI_Waitall", true},	 {"MPI_Bcast", true},	       {"MPI_Barrier", true},
	{"MPI_Reduce", true},	 {"MPI_Allreduce", true},      {"MPI_Scatter", true},
	{"MPI_Scatterv", true},	 {"MPI_Gather", true},	       {"MPI_Gatherv", true},
	{"MPI_Allgather", true}, {"MPI_Allgatherv", true},     {"MPI_Alltoall", true},
	{"MPI_Alltoallv", true}, {"MPI_Alltoallw", true},      {"MPI_Reduce_scatter", true},
	{"MPI_Scan", true},	 {"MPI_Exscan", true},	       {"MPI_Reduce_scatter_block", true},
	{NULL, false},
};

static const struct lx_switch_info cuda_switches[] = {
	{"CUDA_kernel_launch", true}, {"CUDA_memcpy_HtoD", true}, {"CUDA_memcpy_DtoH", true},
	{"CUDA_memcpy_DtoD", true},   {"CUDA_memcpy_HtoH", true}, {"CUDA_malloc", true},
	{"CUDA_free", true},	      {"CUDA_device_sync", true}, {"CUDA_stream_sync", true},
	{"device_activity", false},   {NULL, false},
};

static const struct lx_domain_info domains[LX_RULED_DOMAINS] = {
	[LX_DOMAIN_PYTHON] = {"Python", python_switches, {"thread"}},
	[LX_DOMAIN_USER] = {"User", user_switches, {"thread"}},
	[LX_DOMAIN_IO] = {"IO", io_switches, {"thread"}},
	[LX_DOMAIN_OPENMP] = {"OpenMP", openmp_switches, {"team", "thread", "device"}},
	[LX_DOMAIN_MPI] = {"MPI", mpi_switches, {"rank"}},
	[LX_DOMAIN_CUDA] = {"CUDA", cuda_switches, {"device"}},
};

const struct lx_domain_info *lx_domain_info(uint32_t domain)
{
	return &domains[domain];
}

static bool is_word(const char *word, const char *text, size_t size)
{
	return strlen(word) == size && lx_same_word(word, text, size);
}

int lx_domain_of(const char *name, size_t size)
{
	for (int domain = 0; domain < LX_RULED_DOMAINS; domain++)
		if (is_word(domains[domain].name, name, size))
			return domain;
	return -1;
}

int lx_mode_of(const char *name, size_t size)
{
	static const struct {
		const char *name;
		int mode;
	} words[] = {
		{"OFF", LX_MODE_OFF},	      {"STANDBY", LX_MODE_STANDBY}, {"MONITORING", LX_MODE_MONITORING},
		{"TRACING", LX_MODE_TRACING}, {"FALSE", LX_MODE_OFF},	    {"0", LX_MODE_OFF},
		{"MONITOR", LX_MODE_MONITORING}, {"TRUE", LX_MODE_TRACING}, {"1", LX_MODE_TRACING},
		{"ON", LX_MODE_TRACING},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (is_word(words[i].name, name, size))
			return words[i].mode;
	return -1;
}

const char *lx_mode_name(uint32_t mode)
{
	static const char *const names[LX_MODE_COUNT] = {
#define LX_X(number, NAME) [number] = #NAME,
		LX_MODES(LX_X)
#undef LX_X
	};

	return mode < LX_MODE_COUNT ? names[mode] : "?";
}

/* ---- Modes as text ---- */

const char *const lx_target_words[LX_TARGET_WORDS] = {"Python", "User", "IO", "OpenMP", "MPI", "CUDA", "Lexgion", "Knob"};

bool lx_mode_read(struct lx_piece text, int *mode, char *message, size_t message_size)
{
	static const char *const words[] = {"OFF", "STANDBY", "MONITORING", "TRACING"};

	*mode = lx_mode_of(text.text, text.size);
	if (*mode < 0)
		lx_unknown_word(message, message_size, "mode", text, words, 4, 4);
	return *mode >= 0;
}

/* "Python:STANDBY" */
static bool read_part(struct lx_piece part, char separator, int8_t modes[LX_RULED_DOMAINS], char *message, size_t message_size,
		      struct lx_piece *wrong)
{
	const char *sign = memchr(part.text, separator, part.size);
	struct lx_piece name = part, word = part;
	int mode;

	if (sign) {
		name = lx_piece_trim((struct lx_piece){part.text, (size_t)(sign - part.text)});
		word = lx_piece_trim((struct lx_piece){sign + 1, part.size - (size_t)(sign - part.text) - 1});
	}
	int domain = lx_domain_of(name.text, name.size);

	*wrong = sign && domain < 0 ? name : word;
	if (sign && domain < 0) {
		lx_unknown_word(message, message_size, "domain", name, lx_target_words, LX_RULED_DOMAINS, LX_RULED_DOMAINS);
		return false;
	}
	if (word.size == 0) {
		snprintf(message, message_size, "a mode is missing");
		return false;
	}
	if (!lx_mode_read(word, &mode, message, message_size))
		return false;
	if (!sign) {
		snprintf(message, message_size, "'%.*s' needs its domain here: Python%c%.*s", (int)word.size, word.text,
			 separator, (int)word.size, word.text);
		return false;
	}
	modes[domain] = (int8_t)mode;
	return true;
}

bool lx_modes_read(struct lx_piece text, char separator, int8_t modes[LX_RULED_DOMAINS], char *message, size_t message_size,
		   struct lx_piece *wrong)
{
	int all;

	text = lx_piece_trim(text);
	all = lx_mode_of(text.text, text.size);
	memset(modes, all, LX_RULED_DOMAINS);
	if (all >= 0)
		return true;
	for (bool more = true; more;) {
		const char *comma = memchr(text.text, ',', text.size);
		struct lx_piece part = {text.text, comma ? (size_t)(comma - text.text) : text.size};

		if (!read_part(lx_piece_trim(part), separator, modes, message, message_size, wrong))
			return false;
		more = comma != NULL;
		text.text += part.size + more;
		text.size -= part.size + more;
	}
	return true;
}

bool lx_modes_parse(const char *text, size_t size, char separator, int8_t modes[LX_RULED_DOMAINS], char *message,
		    size_t message_size)
{
	struct lx_piece wrong;

	return lx_modes_read((struct lx_piece){text, size}, separator, modes, message, message_size, &wrong);
}
