"""The C sources of the collective core; `stellwerk.native` compiles them."""
