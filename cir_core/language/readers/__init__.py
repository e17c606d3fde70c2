"""How the requests of a gallery are read: of garments, or of anything."""
