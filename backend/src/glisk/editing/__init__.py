"""Editing a picture for a job: what was asked for, where the pictures come from, and what a model is told."""
