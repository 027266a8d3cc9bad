"""Embedding, extraction and language models, behind ``ports``. Each loads what it runs on when it
is first asked."""
