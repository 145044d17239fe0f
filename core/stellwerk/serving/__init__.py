"""Policy, classifiers, gateway, pools."""
