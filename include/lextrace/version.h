/* The version of lextrace, for C code and the build. */
#ifndef LEXTRACE_VERSION_H
#define LEXTRACE_VERSION_H

#define LX_VERSION "0.1.0"

#endif
