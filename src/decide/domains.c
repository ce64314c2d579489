#include "decide/rules.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

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
	return strlen(word) == size && strncasecmp(word, text, size) == 0;
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

static void trim(const char **text, size_t *size)
{
	while (*size > 0 && (**text == ' ' || **text == '\t'))
		(*text)++, (*size)--;
	while (*size > 0 && ((*text)[*size - 1] == ' ' || (*text)[*size - 1] == '\t'))
		(*size)--;
}

bool lx_modes_parse(const char *text, size_t size, char separator, int8_t modes[LX_RULED_DOMAINS], char *message,
		    size_t message_size)
{
	memset(modes, -1, LX_RULED_DOMAINS);
	trim(&text, &size);
	int all = lx_mode_of(text, size);

	if (all >= 0) {
		memset(modes, all, LX_RULED_DOMAINS);
		return true;
	}
	for (bool more = true; more;) {
		const char *comma = memchr(text, ',', size), *part = text;
		size_t length = comma ? (size_t)(comma - text) : size;
		size_t rest = comma ? size - length - 1 : 0;

		more = comma != NULL;
		trim(&part, &length);
		const char *sign = memchr(part, separator, length), *name = part, *mode = sign ? sign + 1 : part;
		size_t name_size = sign ? (size_t)(sign - part) : 0, mode_size = sign ? length - name_size - 1 : length;

		trim(&name, &name_size);
		trim(&mode, &mode_size);
		int domain = sign ? lx_domain_of(name, name_size) : -1, number = lx_mode_of(mode, mode_size);

		if (sign && domain < 0) {
			snprintf(message, message_size, "unknown domain '%.*s' (%s)", (int)name_size, name,
				 "Python User IO OpenMP MPI CUDA");
			return false;
		}
		if (number >= 0 && !sign) {
			snprintf(message, message_size, "'%.*s' needs its domain here: Python%c%.*s", (int)mode_size, mode,
				 separator, (int)mode_size, mode);
			return false;
		}
		if (number < 0) {
			snprintf(message, message_size, "unknown mode '%.*s' (OFF STANDBY MONITORING TRACING)",
				 (int)mode_size, mode);
			return false;
		}
		modes[domain] = (int8_t)number;
		text = comma ? comma + 1 : text;
		size = rest;
	}
	return true;
}
