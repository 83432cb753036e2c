"""Stand-ins for paid third parties: real HTTP, faithful answers, scripted faults, and a count of what was charged."""
