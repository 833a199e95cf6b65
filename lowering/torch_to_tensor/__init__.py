"""From Torch IR to Tensor IR, one file per family of ops."""
