"""One file a kind of defect."""
