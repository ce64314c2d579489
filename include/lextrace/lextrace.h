/*
 * lextrace for C and C++ programs: named regions with arguments, spans told of afterwards, moments, counters, metadata, and
 * recording switched on and off. C11, C++11 or later, GCC or Clang.
 *
 *     int load(const char *path)
 *     {
 *             LEXTRACE_FUNCTION("IO", LEXTRACE_COMP_IO);
 *             lextrace_arg("path", path);
 *             ...
 *     }
 *
 * Build with `pkg-config --cflags --libs lextrace`, or find_package(lextrace) and lextrace::lextrace in CMake.
 *
 * For all that is declared here: any thread may call it, also before main() and after fork(); nothing raises, prints or ends
 * the program; what is passed is only read, and copied where it is kept, but for regions, which must live as long as the
 * program; texts are UTF-8, other bytes are recorded as they are. Without a session (see `lextrace run` and lextrace_start)
 * nothing is recorded, and a region costs a look at a flag. Events that cannot be written are counted in the trace.
 *
 * With LEXTRACE_DISABLE defined before the #include all of it compiles to nothing, and no library is needed. The arguments
 * of functions and of lextrace_arg() are evaluated once, recorded or not; those of LEXTRACE_* are constants.
 */
#ifndef LEXTRACE_LEXTRACE_H
#define LEXTRACE_LEXTRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <initializer_list>
#include <string>
#ifndef LEXTRACE_DISABLE
#include <exception> /* uncaught_exceptions */
#endif
extern "C" {
#endif

/* What a region does. */
enum lextrace_comp {
	LEXTRACE_COMP_NONE,
	LEXTRACE_COMP_IO,   /* files */
	LEXTRACE_COMP_MEM,  /* large copies, buffers */
	LEXTRACE_COMP_CPU,  /* checksums, compression, encoding */
	LEXTRACE_COMP_COMM  /* network, MPI */
};

/*
 * A place in the program that begins and ends, or of which spans, moments and counters are told. One object for each, made by
 * one of the macros below and usually static. The texts must live as long as it.
 */
typedef struct lextrace_region {
	const char *name;
	uint32_t word, generation, plan; /* the library's own */
	uint32_t line;
	const char *category; /* NULL: what stands before the first slash of the name */
	const char *file;
	uint32_t comp;        /* enum lextrace_comp */
	uint32_t reserved;
} lextrace_region;

/* The name of an argument at one place in the program: static, so that it is looked up once. */
typedef struct lextrace_key {
	const char *name;
	uint64_t found; /* the library's own */
} lextrace_key;

enum lextrace_kind { LEXTRACE_INT, LEXTRACE_UINT, LEXTRACE_DOUBLE, LEXTRACE_STRING };

/* A named value, made by lextrace_of() or one of the functions beside it. Key and text must live until it was handed over. */
typedef struct lextrace_argument {
	const char *key;
	enum lextrace_kind kind;
	int64_t integer;  /* of UINT: its bits */
	double real;
	const char *text; /* NULL: none, "null" in the trace */
	size_t size;      /* bytes of text; SIZE_MAX: up to its NUL */
} lextrace_argument;

#ifdef __cplusplus
#define LEXTRACE_NULL_ nullptr
#else
#define LEXTRACE_NULL_ ((void *)0)
#endif
#define LEXTRACE_PASTE__(a, b) a##b
#define LEXTRACE_PASTE_(a, b) LEXTRACE_PASTE__(a, b)
#define LEXTRACE_FIRST_(a, ...) a
#define LEXTRACE_SECOND_(a, b, ...) b

/* Initialises a region: LEXTRACE_REGION("IO/read"), LEXTRACE_REGION_IN("IO", "read") or (…, LEXTRACE_COMP_IO). */
#define LEXTRACE_REGION(name) {name, 0, 0, 0, __LINE__, LEXTRACE_NULL_, __FILE__, LEXTRACE_COMP_NONE, 0}
#define LEXTRACE_REGION_IN(category, ...)                                                                       \
	{LEXTRACE_FIRST_(__VA_ARGS__, 0), 0, 0, 0, __LINE__, category, __FILE__,                                \
	 LEXTRACE_SECOND_(__VA_ARGS__, LEXTRACE_COMP_NONE, 0), 0}

/* Initialises a key, for lextrace_arg_at(). */
#define LEXTRACE_KEY(name) {name, 0}

#ifndef LEXTRACE_DISABLE

#define LEXTRACE_API_ __attribute__((visibility("default")))

/* Not 0 while a session records. Only the library changes it. */
extern LEXTRACE_API_ unsigned char lextrace_on;
#define LEXTRACE_IS_ON() __builtin_expect(__atomic_load_n(&lextrace_on, __ATOMIC_RELAXED) != 0, 0)

/* What the functions below call while a session records. */
LEXTRACE_API_ void lextrace_region_begin(lextrace_region *region);
LEXTRACE_API_ void lextrace_region_end(lextrace_region *region);
LEXTRACE_API_ void lextrace_region_unwind(lextrace_region *region);
LEXTRACE_API_ void lextrace_argument_add(lextrace_key *key_or_null, const lextrace_argument *argument);
LEXTRACE_API_ void lextrace_span_add(lextrace_region *region, int64_t begin, uint64_t duration,
				     const lextrace_argument *arguments, size_t count);
LEXTRACE_API_ void lextrace_point_add(lextrace_region *region, const lextrace_argument *arguments, size_t count);
LEXTRACE_API_ void lextrace_counter_add(lextrace_region *region, double value);
LEXTRACE_API_ void lextrace_metadata_add(const lextrace_argument *entry);

/*
 * Values from the section [Knob] of the configuration; `otherwise` where there is none of that name, or it is of another
 * kind (an integer is a double as well, everything is a string). Changed by a reload. A string stays valid.
 */
LEXTRACE_API_ int64_t lextrace_knob_int(const char *name, int64_t otherwise);
LEXTRACE_API_ double lextrace_knob_double(const char *name, double otherwise);
LEXTRACE_API_ const char *lextrace_knob_string(const char *name, const char *otherwise);

/*
 * Starts recording into the run folder `run` (made if it is missing; NULL: $LEXTRACE_DIR, as `lextrace run` sets it).
 * Returns 0; -EBUSY recording already; -EINVAL no folder named; other negative errno: the folder can't be made or written.
 */
LEXTRACE_API_ int lextrace_start(const char *run);

/* Ends recording and completes the trace. Regions open now have no end in it. */
LEXTRACE_API_ void lextrace_stop(void);

/* Now, in ns since the epoch: for lextrace_span(). */
LEXTRACE_API_ int64_t lextrace_now(void);

#else /* LEXTRACE_DISABLE */

#define LEXTRACE_IS_ON() 0
#define lextrace_region_begin(region) ((void)(region))
#define lextrace_region_end(region) ((void)(region))
#define lextrace_region_unwind(region) ((void)(region))
#define lextrace_argument_add(key, argument) ((void)(key), (void)(argument))
#define lextrace_span_add(region, begin, duration, arguments, count)                                            \
	((void)(region), (void)(begin), (void)(duration), (void)(arguments), (void)(count))
#define lextrace_point_add(region, arguments, count) ((void)(region), (void)(arguments), (void)(count))
#define lextrace_counter_add(region, value) ((void)(region), (void)(value))
#define lextrace_metadata_add(entry) ((void)(entry))

static inline int64_t lextrace_knob_int(const char *name, int64_t otherwise) { return (void)name, otherwise; }
static inline double lextrace_knob_double(const char *name, double otherwise) { return (void)name, otherwise; }
static inline const char *lextrace_knob_string(const char *name, const char *otherwise) { return (void)name, otherwise; }
static inline int lextrace_start(const char *run) { return (void)run, 0; }
static inline void lextrace_stop(void) {}
static inline int64_t lextrace_now(void) { return 0; }

#endif /* LEXTRACE_DISABLE */

/* ---- Regions ---- */

/*
 * The region begins, and ends, on the calling thread. It may be open several times, also in one thread. Regions of a thread
 * nest: an end closes those that were begun since and are open still.
 */
static inline void lextrace_begin(lextrace_region *region)
{
	if (LEXTRACE_IS_ON())
		lextrace_region_begin(region);
}

static inline void lextrace_end(lextrace_region *region)
{
	if (LEXTRACE_IS_ON())
		lextrace_region_end(region);
}

/* The same, by an exception or by an error that leaves its work undone. */
static inline void lextrace_unwind(lextrace_region *region)
{
	if (LEXTRACE_IS_ON())
		lextrace_region_unwind(region);
}

/* ---- Values ---- */

static inline lextrace_argument lextrace_int(const char *key, int64_t value)
{
	lextrace_argument argument = {key, LEXTRACE_INT, value, 0, LEXTRACE_NULL_, 0};

	return argument;
}

static inline lextrace_argument lextrace_uint(const char *key, uint64_t value)
{
	lextrace_argument argument = {key, LEXTRACE_UINT, (int64_t)value, 0, LEXTRACE_NULL_, 0};

	return argument;
}

static inline lextrace_argument lextrace_double(const char *key, double value)
{
	lextrace_argument argument = {key, LEXTRACE_DOUBLE, 0, value, LEXTRACE_NULL_, 0};

	return argument;
}

/* Cut to 1 MiB in the trace. */
static inline lextrace_argument lextrace_string(const char *key, const char *text)
{
	lextrace_argument argument = {key, LEXTRACE_STRING, 0, 0, text, SIZE_MAX};

	return argument;
}

/* `size` bytes, whatever they are. */
static inline lextrace_argument lextrace_string_n(const char *key, const char *text, size_t size)
{
	lextrace_argument argument = {key, LEXTRACE_STRING, 0, 0, text, size};

	return argument;
}

/* ---- Arguments of the innermost region that is open on the calling thread ---- */

/*
 * Where that region is not recorded, or there is none, nothing is. A key that comes again replaces the value. Of these five
 * only the first, with a key that stays, looks its key up just once; the others search a table without a lock.
 */
static inline void lextrace_arg_at(lextrace_key *key, lextrace_argument argument)
{
	if (LEXTRACE_IS_ON())
		lextrace_argument_add(key, &argument);
}

static inline void lextrace_arg_int(const char *key, int64_t value)
{
	if (LEXTRACE_IS_ON()) {
		lextrace_argument argument = lextrace_int(key, value);

		lextrace_argument_add(LEXTRACE_NULL_, &argument);
	}
}

static inline void lextrace_arg_double(const char *key, double value)
{
	if (LEXTRACE_IS_ON()) {
		lextrace_argument argument = lextrace_double(key, value);

		lextrace_argument_add(LEXTRACE_NULL_, &argument);
	}
}

static inline void lextrace_arg_string_n(const char *key, const char *text, size_t size)
{
	if (LEXTRACE_IS_ON()) {
		lextrace_argument argument = lextrace_string_n(key, text, size);

		lextrace_argument_add(LEXTRACE_NULL_, &argument);
	}
}

static inline void lextrace_arg_string(const char *key, const char *text)
{
	lextrace_arg_string_n(key, text, SIZE_MAX);
}

/* ---- What stands alone ---- */

/* A whole span, told of afterwards: `begin` in ns since the epoch, `duration` in ns; it may overlap with all others. */
static inline void lextrace_span(lextrace_region *region, int64_t begin, uint64_t duration,
				 const lextrace_argument *arguments, size_t count)
{
	if (LEXTRACE_IS_ON())
		lextrace_span_add(region, begin, duration, arguments, count);
}

/* A moment: now. */
static inline void lextrace_point(lextrace_region *region, const lextrace_argument *arguments, size_t count)
{
	if (LEXTRACE_IS_ON())
		lextrace_point_add(region, arguments, count);
}

/* The counter of this name has the value from now on. */
static inline void lextrace_counter(lextrace_region *region, double value)
{
	if (LEXTRACE_IS_ON())
		lextrace_counter_add(region, value);
}

/* What holds for the whole process, at any time of the session. The last value of a key counts. */
static inline void lextrace_metadata(lextrace_argument entry)
{
	if (LEXTRACE_IS_ON())
		lextrace_metadata_add(&entry);
}

static inline void lextrace_metadata_int(const char *key, int64_t value)
{
	lextrace_metadata(lextrace_int(key, value));
}

static inline void lextrace_metadata_double(const char *key, double value)
{
	lextrace_metadata(lextrace_double(key, value));
}

static inline void lextrace_metadata_string(const char *key, const char *text)
{
	lextrace_metadata(lextrace_string(key, text));
}

static inline void lextrace_metadata_string_n(const char *key, const char *text, size_t size)
{
	lextrace_metadata(lextrace_string_n(key, text, size));
}

/* ---- Scopes: see LEXTRACE_SCOPE ---- */

static inline lextrace_region *lextrace_scope_begin_(lextrace_region *region)
{
	if (!LEXTRACE_IS_ON())
		return LEXTRACE_NULL_;
	lextrace_region_begin(region);
	return region;
}

static inline void lextrace_scope_end_(lextrace_region **region)
{
	if (__builtin_expect(*region != LEXTRACE_NULL_, 0))
		lextrace_region_end(*region);
}

#ifdef __cplusplus
} /* extern "C" */

/* An argument of the value's own kind: bool, any integer, float, double, text. */
inline lextrace_argument lextrace_of(const char *key, bool value) { return lextrace_int(key, value); }
inline lextrace_argument lextrace_of(const char *key, char value) { return lextrace_int(key, value); }
inline lextrace_argument lextrace_of(const char *key, signed char value) { return lextrace_int(key, value); }
inline lextrace_argument lextrace_of(const char *key, unsigned char value) { return lextrace_int(key, value); }
inline lextrace_argument lextrace_of(const char *key, short value) { return lextrace_int(key, value); }
inline lextrace_argument lextrace_of(const char *key, unsigned short value) { return lextrace_int(key, value); }
inline lextrace_argument lextrace_of(const char *key, int value) { return lextrace_int(key, value); }
inline lextrace_argument lextrace_of(const char *key, unsigned value) { return lextrace_int(key, value); }
inline lextrace_argument lextrace_of(const char *key, long value) { return lextrace_int(key, value); }
inline lextrace_argument lextrace_of(const char *key, unsigned long value) { return lextrace_uint(key, value); }
inline lextrace_argument lextrace_of(const char *key, long long value) { return lextrace_int(key, value); }
inline lextrace_argument lextrace_of(const char *key, unsigned long long value) { return lextrace_uint(key, value); }
inline lextrace_argument lextrace_of(const char *key, float value) { return lextrace_double(key, static_cast<double>(value)); }
inline lextrace_argument lextrace_of(const char *key, double value) { return lextrace_double(key, value); }
inline lextrace_argument lextrace_of(const char *key, long double value)
{
	return lextrace_double(key, static_cast<double>(value));
}
inline lextrace_argument lextrace_of(const char *key, const char *text) { return lextrace_string(key, text); }
inline lextrace_argument lextrace_of(const char *key, const std::string &text)
{
	return lextrace_string_n(key, text.data(), text.size());
}
lextrace_argument lextrace_of(const char *key, const void *value) = delete; /* a pointer is no bool */

/* The same with a list: lextrace_span(&region, begin, duration, {lextrace_of("bytes", n)}). */
inline void lextrace_span(lextrace_region *region, int64_t begin, uint64_t duration,
			  std::initializer_list<lextrace_argument> arguments)
{
	lextrace_span(region, begin, duration, arguments.begin(), arguments.size());
}

inline void lextrace_point(lextrace_region *region, std::initializer_list<lextrace_argument> arguments)
{
	lextrace_point(region, arguments.begin(), arguments.size());
}

namespace lextrace
{

#ifndef LEXTRACE_DISABLE
/* Exceptions on their way; the object that was made at a smaller number is left by one. */
inline int exceptions_() noexcept
{
#if __cplusplus >= 201703L
	return std::uncaught_exceptions();
#else
	return std::uncaught_exception();
#endif
}

/* A region that is open as long as the object is there; an exception that ends it is noted. On one thread. */
class scope
{
      public:
	explicit scope(lextrace_region &place) : region(LEXTRACE_IS_ON() ? &place : nullptr), exceptions(0)
	{
		if (region) {
			exceptions = exceptions_();
			lextrace_region_begin(region);
		}
	}
	~scope()
	{
		if (region) {
			if (exceptions_() > exceptions)
				lextrace_region_unwind(region);
			else
				lextrace_region_end(region);
		}
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

      private:
	lextrace_region *region;
	int exceptions;
};
#else
inline int exceptions_() noexcept { return 0; }

class scope
{
      public:
	explicit scope(lextrace_region &) {}
};
#endif

} /* namespace lextrace */

#else /* C */

/* An argument of the value's own kind: bool, any integer, float, double, text. The value is evaluated once. */
#define lextrace_of(key, value)                                                                                 \
	_Generic((value), _Bool: lextrace_int, char: lextrace_int, signed char: lextrace_int,                   \
		 unsigned char: lextrace_int, short: lextrace_int, unsigned short: lextrace_int,                \
		 int: lextrace_int, unsigned: lextrace_int, long: lextrace_int, unsigned long: lextrace_uint,   \
		 long long: lextrace_int, unsigned long long: lextrace_uint, float: lextrace_double,            \
		 double: lextrace_double, long double: lextrace_double, char *: lextrace_string,                \
		 const char *: lextrace_string)(key, value)

#endif

/* lextrace_arg("bytes", n): an argument of the innermost open region, of the value's own kind. The key is a literal. */
#define lextrace_arg(key, value)                                                                                \
	do {                                                                                                    \
		static lextrace_key lextrace_key_ = LEXTRACE_KEY("" key);                                       \
		lextrace_arg_at(&lextrace_key_, lextrace_of(lextrace_key_.name, value));                        \
	} while (0)

/*
 * The rest of the block is a region: LEXTRACE_SCOPE("IO", "read") or LEXTRACE_SCOPE("IO", "read", LEXTRACE_COMP_IO). It ends
 * however the block is left, but for longjmp() and exit(). A declaration.
 *
 * LEXTRACE_FUNCTION("IO") or LEXTRACE_FUNCTION("IO", LEXTRACE_COMP_IO): the same with the function's name.
 */
#define LEXTRACE_SCOPE(category, ...)                                                                           \
	LEXTRACE_SCOPE_(__COUNTER__, category, LEXTRACE_FIRST_(__VA_ARGS__, 0),                                 \
			LEXTRACE_SECOND_(__VA_ARGS__, LEXTRACE_COMP_NONE, 0))
#define LEXTRACE_FUNCTION(...)                                                                                  \
	LEXTRACE_SCOPE(LEXTRACE_FIRST_(__VA_ARGS__, 0), __func__, LEXTRACE_SECOND_(__VA_ARGS__, LEXTRACE_COMP_NONE, 0))

#define LEXTRACE_SCOPE_(number, category, name, comp)                                                           \
	LEXTRACE_OPEN_(LEXTRACE_PASTE_(lextrace_region_, number), LEXTRACE_PASTE_(lextrace_open_, number), category, name, comp)

#if defined(LEXTRACE_DISABLE) && defined(__cplusplus)
#define LEXTRACE_OPEN_(place, opened, category, name, comp) static_assert(true, "")
#elif defined(LEXTRACE_DISABLE)
#define LEXTRACE_OPEN_(place, opened, category, name, comp) _Static_assert(1, "")
#elif defined(__cplusplus)
#define LEXTRACE_OPEN_(place, opened, category, name, comp)                                                     \
	static lextrace_region place = LEXTRACE_REGION_IN(category, name, comp);                                \
	const ::lextrace::scope opened(place)
#else
#define LEXTRACE_OPEN_(place, opened, category, name, comp)                                                     \
	static lextrace_region place = LEXTRACE_REGION_IN(category, name, comp);                                \
	__attribute__((cleanup(lextrace_scope_end_), unused)) lextrace_region *opened = lextrace_scope_begin_(&place)
#endif

#endif
