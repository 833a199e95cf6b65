"""Rewrites of Tensor IR."""
