"""What servers reply: an answer, or a complaint, and the error that a person is shown for it."""
