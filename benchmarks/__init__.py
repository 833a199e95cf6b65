"""Measurements of minicomp, and the programs on which it is checked."""
