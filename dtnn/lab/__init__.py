"""The lab: widgets to build a network by clicks, train it on a cluster, and look into what ranks say to each other."""

from .builder import Builder

__all__ = ["Builder"]
