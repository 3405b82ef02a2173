"""A second opinion on calls that no rule matches: a model reads the call and says whether it is safe. Decides nothing.

`prompt` has the text for the model, `apis` requests, replies and keys, `model` runs them."""
