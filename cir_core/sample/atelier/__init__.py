"""The Atelier: cirque's synthetic sample gallery, with its queries and ground truth."""
