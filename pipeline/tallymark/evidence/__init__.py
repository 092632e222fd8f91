"""Documents: strict JSON in, canonical JSON out, digests, atomic files and the journal of a running suite."""
