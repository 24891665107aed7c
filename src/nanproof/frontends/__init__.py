"""Front ends: each turns one kind of file or program into a Model."""
