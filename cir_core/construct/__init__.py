"""Things made of a gallery offline, before anybody searches it."""
