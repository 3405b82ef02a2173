"""Facts about the host: where paths lead, whose repository it is, which files configure Assent. Judges nothing."""
