"""The page of scores: one HTML file that needs nothing else, no network and no scripts."""

USUAL_SCENES = 10.0  # the threshold of FFmpeg's scdet for a new scene
