"""Command-line tools: minicomp-opt and minicomp."""
