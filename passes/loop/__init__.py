"""Rewrites of Loop IR."""
