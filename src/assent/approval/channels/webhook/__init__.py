"""The channel to any receiver of signed requests: questions are posted, answers come back signed."""
