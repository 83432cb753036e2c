"""What an author says with their wallet, and how it is believed."""
