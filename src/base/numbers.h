/* Numbers as people read them. Each writes at most `size` bytes to `out` (LX_NUMBER_SIZE is enough) and returns it. */
#ifndef LX_BASE_NUMBERS_H
#define LX_BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#define LX_NUMBER_SIZE 40

char *lx_format_count(char *out, size_t size, uint64_t value);   /* "6,144,155" */
char *lx_format_duration(char *out, size_t size, double ns);     /* "880 ns", "2.10 us", "1.20  s": three digits */
char *lx_format_seconds(char *out, size_t size, double ns);      /* "5.56 s": the same in running text */
char *lx_format_bytes(char *out, size_t size, uint64_t bytes);   /* "98.3 MB" */
/* "1 process", "9 processes"; a word in s takes "es". */
char *lx_format_plural(char *out, size_t size, uint64_t count, const char *word);

#endif
