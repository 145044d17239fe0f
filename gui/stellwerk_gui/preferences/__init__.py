"""The user's choices as a page."""
