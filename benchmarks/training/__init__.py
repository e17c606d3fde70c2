"""Training of the bundled encoder on the sample gallery's train split."""
