"""An OpenAI-compatible engine without a model: timing, queueing and faults are real, the words are made up."""
