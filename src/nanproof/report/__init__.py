"""A Report as text: for a terminal, for machines (JSON, SARIF) and for GitHub. Every writer is a pure function."""
