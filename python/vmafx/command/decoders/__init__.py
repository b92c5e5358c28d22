"""Has a GPU's decoders decode inputs, where that changes no score."""
