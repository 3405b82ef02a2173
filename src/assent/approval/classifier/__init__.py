"""A second opinion on what nothing spoke of: a model reads the call and says whether it is safe. Decides nothing.

`prompt` is what it is shown, `apis` how it is spoken to, `answer` how strictly it is read, `keys` where its key is,
`breaker` when it is left alone, `model` all of these together."""
