"""Slack and the webhook, end to end: a real server, and a stand-in that speaks Slack's API on this machine."""
