"""The wizard without a screen: pages, plans, journal, apply and roll back."""
