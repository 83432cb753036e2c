"""A chain that forks and the nodes that lie about it, all drawn from one seed: for the real listener to be run against."""
