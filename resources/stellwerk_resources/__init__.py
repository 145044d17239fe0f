"""Fonts, icons, catalogue, classifier weights, example policies, translations."""
