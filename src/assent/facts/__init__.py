"""What the host says: where paths lead, whose repository it is, which files configure Assent. Judges nothing."""
