"""Connects the stages: engines and their cache, configuration, grants and modes, the classifier, questions."""
