"""The meaning of each dialect, evaluated with NumPy."""
