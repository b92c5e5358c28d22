"""Looks at what this machine scores with: programs, packages, processors, GPUs; and says what is wrong with them."""
