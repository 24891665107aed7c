"""Run a model concretely. Each runtime is one leaf, imported when it is used."""
