/*
 * Programs annotated with DFTracer's macros, recorded by lextrace: build with lextrace's flags (`pkg-config --cflags --libs
 * lextrace`) in place of DFTracer's.
 *
 *     DFTRACER_C_INIT(NULL, NULL, NULL);        after MPI_Init
 *     DFTRACER_C_FUNCTION_START();
 *     DFTRACER_C_FUNCTION_UPDATE_STR("comp", "io");
 *     ...
 *     DFTRACER_C_FUNCTION_END();                before each return; where it is missing, the end of the block does it
 *     DFTRACER_C_FINI();                        before MPI_Finalize; else the program's exit does it
 *
 * INIT records where DFTRACER_ENABLE is 1, and writes PREFIX-<16 hex digits>-app.pfw.gz at FINI; until then all of it is safe
 * in the folder PREFIX-<16 hex digits>-app.lextrace. Under `lextrace run` it goes into that run instead. PREFIX is log_file,
 * else $DFTRACER_LOG_FILE, else "trace". See docs/c-api.md for the other variables.
 *
 * An update belongs to the function or region that it names, whatever else is open; values of a key replace each other.
 * Functions and regions of a thread nest: the end of one closes those that began in it and are open still.
 */
#ifndef LEXTRACE_DFTRACER_H
#define LEXTRACE_DFTRACER_H

#include <lextrace/lextrace.h>

#define DF_DATA_EVENT 0
#define DF_METADATA_EVENT 1

#ifdef __cplusplus
extern "C" {
#endif

/* A function or region that is open. Stays where it is until its end. */
struct DFTracerData {
	lextrace_region *region;
	void *later; /* updates that wait until what is open inside has ended */
	uint32_t plan, open;
};

#ifndef LEXTRACE_DISABLE
/*
 * Begins a recording, or joins the one at hand. Where the folder cannot be made, a line on stderr says so and nothing is
 * recorded. NULL stands for what the environment says. `process_id` is the MPI rank; without it the launcher's variables
 * tell it. A second call before the end changes nothing.
 */
LEXTRACE_API_ void lextrace_dftracer_init(const char *log_file, const char *data_dirs, const int *process_id);
/* Ends the recording that init began and writes its file; nothing where it joined one. Init may follow again. */
LEXTRACE_API_ void lextrace_dftracer_fini(void);
LEXTRACE_API_ void lextrace_dftracer_used(const char *layer);
LEXTRACE_API_ void lextrace_dftracer_begin(struct DFTracerData *data);
LEXTRACE_API_ void lextrace_dftracer_update(struct DFTracerData *data, const lextrace_argument *argument);
LEXTRACE_API_ void lextrace_dftracer_end(struct DFTracerData *data, int unwinding);
#else
#define lextrace_dftracer_init(log_file, data_dirs, process_id) ((void)(log_file), (void)(data_dirs), (void)(process_id))
#define lextrace_dftracer_fini() ((void)0)
#define lextrace_dftracer_used(layer) ((void)(layer))
#define lextrace_dftracer_begin(data) ((void)(data))
#define lextrace_dftracer_update(data, argument) ((void)(data), (void)(argument))
#define lextrace_dftracer_end(data, unwinding) ((void)(data), (void)(unwinding))
#endif

static inline void lextrace_dftracer_begin_(struct DFTracerData *data)
{
	if (LEXTRACE_IS_ON())
		lextrace_dftracer_begin(data);
}

static inline void lextrace_dftracer_update_(struct DFTracerData *data, lextrace_argument argument)
{
	if (__builtin_expect(data->open != 0, 0))
		lextrace_dftracer_update(data, &argument);
}

static inline void lextrace_dftracer_end_(struct DFTracerData *data)
{
	if (__builtin_expect(data->open != 0, 0))
		lextrace_dftracer_end(data, 0);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

/* The semicolons that DFTracer's macros bring along are here, too: programs rely on them. */
#define LEXTRACE_DFTRACER_OPEN_(variable, place, name, category)                                                \
	static lextrace_region place = LEXTRACE_REGION_IN(category, name);                                      \
	__attribute__((cleanup(lextrace_dftracer_end_), unused)) struct DFTracerData variable = {               \
		&place, LEXTRACE_NULL_, 0, 0};                                                                  \
	lextrace_dftracer_begin_(&variable);

#define DFTRACER_C_INIT(log_file, data_dirs, process_id)                                                        \
	lextrace_dftracer_init(log_file, data_dirs, process_id);                                                \
	lextrace_dftracer_used("C_APP");
#define DFTRACER_C_INIT_NO_BIND(log_file, data_dirs, process_id) DFTRACER_C_INIT(log_file, data_dirs, process_id)
#define DFTRACER_C_FINI() lextrace_dftracer_fini()

#define DFTRACER_C_FUNCTION_START() LEXTRACE_DFTRACER_OPEN_(data_fn, data_fn_place, __func__, "C_APP")
#define DFTRACER_C_FUNCTION_END() lextrace_dftracer_end_(&data_fn);
#define DFTRACER_C_FUNCTION_UPDATE_INT(key, val) lextrace_dftracer_update_(&data_fn, lextrace_int(key, val));
#define DFTRACER_C_FUNCTION_UPDATE_STR(key, val) lextrace_dftracer_update_(&data_fn, lextrace_string(key, val));
#define DFTRACER_C_FUNCTION_UPDATE_INT_TYPE(key, val, type)                                                     \
	((void)(type), lextrace_dftracer_update_(&data_fn, lextrace_int(key, val)));
#define DFTRACER_C_FUNCTION_UPDATE_STR_TYPE(key, val, type)                                                     \
	((void)(type), lextrace_dftracer_update_(&data_fn, lextrace_string(key, val)));

#define DFTRACER_C_REGION_START(name) LEXTRACE_DFTRACER_OPEN_(data_##name, data_##name##_place, #name, "C_APP")
#define DFTRACER_C_REGION_END(name) lextrace_dftracer_end_(&data_##name);
#define DFTRACER_C_REGION_UPDATE_INT(name, key, val) lextrace_dftracer_update_(&data_##name, lextrace_int(key, val));
#define DFTRACER_C_REGION_UPDATE_STR(name, key, val)                                                            \
	lextrace_dftracer_update_(&data_##name, lextrace_string(key, val));
#define DFTRACER_C_REGION_UPDATE_INT_TYPE(name, key, val, type)                                                 \
	((void)(type), lextrace_dftracer_update_(&data_##name, lextrace_int(key, val)));
#define DFTRACER_C_REGION_UPDATE_STR_TYPE(name, key, val, type)                                                 \
	((void)(type), lextrace_dftracer_update_(&data_##name, lextrace_string(key, val)));

/* `name` is not looked at. */
#define DFTRACER_C_METADATA(name, key, val)                                                                     \
	{                                                                                                       \
		lextrace_metadata_string(key, val);                                                             \
	}
#define DFTRACER_C_APP_METADATA_INT(key, val) lextrace_metadata_int(key, val);
#define DFTRACER_C_APP_METADATA_STR(key, val) lextrace_metadata_string(key, val);
#define DFTRACER_C_MARK_USED(name) lextrace_dftracer_used(name);

#ifdef __cplusplus

/* What UPDATE_TYPE takes; it is not looked at. */
enum class MetadataType { MT_KEY, MT_VALUE, MT_IGNORE };

/*
 * A function or region that is open as long as the object is there, or until finalize(); an exception that ends it is noted.
 * With DF_METADATA_EVENT: the metadata entry `name` with the value `category`. Names must live as long as the object.
 */
class DFTracer
{
      public:
	explicit DFTracer(lextrace_region *place) : own(), data{place, nullptr, 0, 0}, exceptions(0) { begin(); }
	DFTracer(const char *name, const char *category, int event_type = DF_DATA_EVENT)
		: own{name, 0, 0, 0, 0, category, nullptr, LEXTRACE_COMP_NONE, 0}, data{&own, nullptr, 0, 0}, exceptions(0)
	{
		if (event_type == DF_METADATA_EVENT)
			lextrace_metadata_string(name, category);
		else
			begin();
	}
	~DFTracer() { finalize(); }
	DFTracer(const DFTracer &) = delete;
	DFTracer &operator=(const DFTracer &) = delete;

	/* bool, any integer, float, double or text */
	template <class Value> void update(const char *key, const Value &value)
	{
		lextrace_dftracer_update_(&data, lextrace_of(key, value));
	}
	template <class Value, class Type> void update(const char *key, const Value &value, Type)
	{
		update(key, value);
	}

	void finalize()
	{
		if (data.open)
			lextrace_dftracer_end(&data, lextrace::exceptions_() > exceptions);
	}

      private:
	void begin()
	{
		if (LEXTRACE_IS_ON()) {
			exceptions = lextrace::exceptions_();
			lextrace_dftracer_begin(&data);
		}
	}
	lextrace_region own;
	struct DFTracerData data;
	int exceptions;
};

#define LEXTRACE_DFTRACER_PLACE_(place, name) static lextrace_region place = LEXTRACE_REGION_IN("CPP_APP", name);

#define DFTRACER_CPP_INIT(log_file, data_dirs, process_id)                                                      \
	lextrace_dftracer_init(log_file, data_dirs, process_id);                                                \
	lextrace_dftracer_used("CPP_APP");
#define DFTRACER_CPP_INIT_NO_BIND(log_file, data_dirs, process_id) DFTRACER_CPP_INIT(log_file, data_dirs, process_id)
#define DFTRACER_CPP_FINI() lextrace_dftracer_fini()

#define DFTRACER_CPP_FUNCTION()                                                                                 \
	LEXTRACE_DFTRACER_PLACE_(profiler_dft_fn_place, __func__)                                               \
	DFTracer profiler_dft_fn(&profiler_dft_fn_place);
#define DFTRACER_CPP_FUNCTION_UPDATE(key, val) profiler_dft_fn.update(key, val);
#define DFTRACER_CPP_FUNCTION_UPDATE_TYPE(key, val, type) profiler_dft_fn.update(key, val, type);

#define DFTRACER_CPP_REGION(name)                                                                               \
	LEXTRACE_DFTRACER_PLACE_(profiler_##name##_place, #name)                                                \
	DFTracer profiler_##name(&profiler_##name##_place);
#define DFTRACER_CPP_REGION_UPDATE(name, key, val) profiler_##name.update(key, val);
#define DFTRACER_CPP_REGION_UPDATE_TYPE(name, key, val, type) profiler_##name.update(key, val, type);

#define DFTRACER_CPP_REGION_START(name)                                                                         \
	LEXTRACE_DFTRACER_PLACE_(profiler_##name##_place, #name)                                                \
	DFTracer *profiler_##name = new DFTracer(&profiler_##name##_place);
#define DFTRACER_CPP_REGION_END(name) delete profiler_##name
#define DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val) profiler_##name->update(key, val);
#define DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(name, key, val, type) profiler_##name->update(key, val, type);

#define DFTRACER_CPP_METADATA(name, key, value)                                                                 \
	{                                                                                                       \
		lextrace_metadata_string(key, value);                                                           \
	}
#define DFTRACER_CPP_APP_METADATA_INT(key, val) lextrace_metadata_int(key, val);
#define DFTRACER_CPP_APP_METADATA_STR(key, val) lextrace_metadata_string(key, val);
#define DFTRACER_CPP_MARK_USED(name) lextrace_dftracer_used(name);

#endif /* __cplusplus */

#endif
