"""Template tags: here, because Django looks for them in an installed app."""
