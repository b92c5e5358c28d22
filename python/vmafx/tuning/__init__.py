"""Finds how an encoder must be set to reach a score, and encodes with it: `vmafx crf` and `vmafx encode`."""
