"""Files of Assent's own state: trust, sessions, pauses, answers of dialogs. Interprets none of them."""
