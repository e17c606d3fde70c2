"""The Atelier: cirque's own sample gallery, drawn from code, with its queries and answer key."""
