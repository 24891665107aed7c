"""One file a program, or a family of programs that differ in little."""
