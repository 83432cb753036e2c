"""Asking somebody for words: which tasks there are, and a question that is paid for once."""
