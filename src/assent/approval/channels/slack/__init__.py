"""The channel to Slack: messages with buttons, dialogs, and who may press them. Needs slack-sdk for its line alone."""
