"""One step of an optimiser, appended to the graph of a loss and its gradients."""
