"""The outside world that draws: one file per provider, all behind one port."""
