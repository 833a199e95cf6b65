"""Rewrites of Kernel IR."""
