"""The steps between an ask and its answer: questions, channels, grants. Decides nothing about a call itself."""
