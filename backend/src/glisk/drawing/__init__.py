"""Drawing a picture for a row: whose prompt, what it may cost, whether it is any good, and what a failure means."""
