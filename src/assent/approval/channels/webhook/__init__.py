"""The channel to whatever takes a signed request: questions are posted, answers come back signed."""
