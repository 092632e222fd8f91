/* A made-up /proc and /sys below a temporary folder: what a machine looks like that the tests do not run on. */
#ifndef TREE_H
#define TREE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"

typedef struct tree {
    char root[32];
} tree;

static inline tree tree_make(void) {
    tree self = {"tree-XXXXXX"};
    CHECK(mkdtemp(self.root) != NULL);
    return self;
}

/* Writes one file and the folders above it. */
static inline void tree_put(const tree *self, const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", self->root, path);
    for (char *slash = strchr(full + strlen(self->root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    CHECK(file != NULL && fputs(text, file) >= 0);
    if (file != NULL) {
        fclose(file);
    }
}

static inline int tree_remove_entry(const char *path, const struct stat *what, int kind, struct FTW *walk) {
    (void)what, (void)kind, (void)walk;
    return remove(path);
}

static inline void tree_remove(const tree *self) {
    nftw(self->root, tree_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
