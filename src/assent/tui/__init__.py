"""The terminal inbox: a signed-in client of the server, drawn with Textual. Decides and keeps nothing."""
