"""What a text takes from the turns before it."""
