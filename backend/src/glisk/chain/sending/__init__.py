"""Transactions of ours: each stored before it is sent, followed until it is final, and never sent with other content."""
