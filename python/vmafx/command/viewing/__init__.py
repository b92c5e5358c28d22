"""Shows inputs in a browser on this machine: pictures, scores while they are computed, and the server of both."""
