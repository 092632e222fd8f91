/* The manifest: which code ran on which machine in which state, written by the runtime itself and never by hand.
 * No host name, user name or path is read into it. */
#ifndef RT_MANIFEST_H
#define RT_MANIFEST_H

#include "rt_environment.h"
#include "rt_json.h"
#include "rt_machine.h"

/* Writes the manifest object. A fact that is missing is null, and `unavailable` gives its reason under its key. */
void rt_manifest_write(rt_json *json, const char *key, const rt_machine *machine,
                       const rt_environment *environment);

#endif
