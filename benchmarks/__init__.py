"""Figures: what Runwright does in a second, as ratios to what the same disk can do at all."""
