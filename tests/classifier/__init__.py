"""The classifier against a stand-in of both APIs over real HTTP."""
