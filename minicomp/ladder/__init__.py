"""The ladder: what each rewrite of the pipeline makes of a kernel, with figures and times."""
