"""C sources of the scan loop; `stellwerk.native` compiles them."""
