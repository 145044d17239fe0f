"""The window."""

from stellwerk_gui.lean import no_feature_scan

no_feature_scan()  # before the rest is imported
