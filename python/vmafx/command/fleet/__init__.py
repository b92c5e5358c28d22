"""Scores a library of videos on many processes or machines: the list, the results, the tasks, the engine that runs
them.
"""
