"""The policy file: format, validation, compilation, edits, upgrade, schema, exchange with Switchyard."""
