"""What reads names and relations out of texts."""

from __future__ import annotations

from enfold.models.extraction.offline import OfflineExtractor

__all__ = ["OfflineExtractor"]
