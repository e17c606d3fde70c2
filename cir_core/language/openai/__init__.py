"""Language models behind OpenAI-compatible servers: chat completions with images and JSON answers."""
