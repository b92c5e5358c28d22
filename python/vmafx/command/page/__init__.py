"""The page of scores: one HTML file that needs nothing else, no network and no scripts."""
