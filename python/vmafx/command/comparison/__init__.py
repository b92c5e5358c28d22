"""Computes the results of `vmafx compare`: curves of rate and quality, differences between them, hulls."""
