"""The channel to Slack: messages with buttons, dialogs, and who may press them. Only its connection needs slack-sdk."""
