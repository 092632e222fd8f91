/* The indexes that this benchmark compares, and the names that all of them hold. Plain C types only: two of them are
 * C++. A name is "role-N"; the index answers with the name that it keeps, so that it must have found it. */
#ifndef LOOKUP_H
#define LOOKUP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lookup_name {
    char text[15];
    uint8_t bytes;
} lookup_name;

/* All sides hold a name and two words for each role, and are told beforehand how many there will be. */
typedef struct lookup_index {
    void *(*create)(uint32_t capacity);
    void (*add)(void *index, const lookup_name *name);
    void (*settle)(void *index);                                   /* after all were added; NULL: nothing to do */
    void (*remove)(void *index, const lookup_name *name);          /* NULL: not offered */
    const char *(*find)(const void *index, const lookup_name *name); /* NULL: there is none */
} lookup_index;

extern const lookup_index lookup_tallymark;
extern const lookup_index lookup_unordered_map;
extern const lookup_index lookup_sorted_array;

#ifdef __cplusplus
}
#endif

#endif
