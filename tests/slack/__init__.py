"""Slack and the webhook, end to end: a real server, and a stand-in for Slack's API on this machine."""
