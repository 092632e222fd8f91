"""Tallymark: benchmark pages whose every number can be recounted."""

__version__ = "0.1.0"
