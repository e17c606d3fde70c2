"""What servers reply: read, understood and put into words."""
