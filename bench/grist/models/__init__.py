"""Programs of the benchmark as Keras models, the loss included: ``MODELS`` are functions of a case that return the model."""
