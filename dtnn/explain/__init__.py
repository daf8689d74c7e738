"""Where the time of a run went, in words."""

from .explanation import Explanation, Finding, explain

__all__ = ["Explanation", "Finding", "explain"]
