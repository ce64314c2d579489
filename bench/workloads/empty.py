"""Nothing: what starting and ending cost."""
