"""How hard is this prompt? A linear model over hashed words and lexical features, in this process."""
