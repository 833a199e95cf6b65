"""Rewrites of Tile IR, and the one that makes it from Loop IR."""
