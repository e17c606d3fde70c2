"""Marks of candidates: how far people agree, and which threshold on a model's confidence agrees best with them."""
