/*
 * How one fuzz input holds the files of a process folder: sections, one after the other, each a type byte, a 24-bit
 * length (little-endian) and that many bytes. A length past the end is cut.
 */
#ifndef LX_FUZZ_SECTIONS_H
#define LX_FUZZ_SECTIONS_H

enum section {
	SECTION_STATE,    /* lextrace/state */
	SECTION_PROCESS,  /* lextrace/process */
	SECTION_LEXGIONS, /* lextrace/lexgions */
	SECTION_STREAM,   /* begins the next stream with these bytes */
	SECTION_PACKET,   /* appends a packet to the stream: thread, stack, 2 bytes unused, 32-bit begin, then its events */
	SECTION_OPEN,     /* its open packet, byte for byte */
	SECTION_ROWS,     /* lextrace/rows */
	SECTION_THREADS,  /* lextrace/threads */
	SECTION_JOURNAL,  /* lextrace/journal */
	SECTION_CONFIG,   /* lextrace/config */
	SECTION_SIDES,    /* which events are left out from a 32-bit tick on, then a byte a lexgion, again from the start */
	SECTION_TYPES
};

#define SECTION_HEADER 4u
#define SECTION_PACKET_HEADER 8u

#endif
