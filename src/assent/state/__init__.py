"""Files of Assent's own state: trust, sessions, pauses, what dialogs answered. What they mean is for others to say."""
