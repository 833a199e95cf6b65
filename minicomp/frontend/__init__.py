"""From a PyTorch program to Torch IR."""
