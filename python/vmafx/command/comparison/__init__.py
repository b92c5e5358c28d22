"""What `vmafx compare` computes: curves of rate and quality, differences of them, hulls."""
