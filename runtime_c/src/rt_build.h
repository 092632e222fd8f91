/* How the running code was built, and which file holds it. */
#ifndef RT_BUILD_H
#define RT_BUILD_H

#include "rt_fact.h"
#include "rt_json.h"

/* Writes the `build` object: the part of a manifest that decides whether two results come from the same code. */
void rt_build_write(rt_json *json, const char *key);

/* SHA-256 of the file that the running code was loaded from: the extension module or the program. */
void rt_build_library(rt_fact_text *sha256);

/* The build id that the linker left in the loaded code, in hexadecimal. */
void rt_build_id(rt_fact_text *id);

/* The commit that was checked out when the library was built. */
void rt_build_revision(rt_fact_text *revision);

/* 1 when the tree differed from that commit, 0 when not. */
void rt_build_dirty(rt_fact_uint *dirty);

/* 1 when sources and flags are those of the released build. */
void rt_build_equals_release(rt_fact_uint *equal);

#endif
