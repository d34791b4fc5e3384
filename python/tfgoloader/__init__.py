"""Feeds images to Keras and NumPy from a Go core that reads, decodes and augments on all cores without the GIL."""

from importlib.metadata import version as _version

from tfgoloader import ops, sources
from tfgoloader._core import build_info
from tfgoloader._elements import ArraySpec
from tfgoloader._errors import (
    ConfigError,
    DecodeError,
    ForkError,
    InternalError,
    SourceError,
    TfGoLoaderError,
)
from tfgoloader._loader import ImageLoader
from tfgoloader._preprocess import Preprocess
from tfgoloader._replay import Replay

__version__ = _version("tfgoloader")

__all__ = [
    "ArraySpec",
    "ConfigError",
    "DecodeError",
    "ForkError",
    "ImageLoader",
    "InternalError",
    "Preprocess",
    "Replay",
    "SourceError",
    "TfGoLoaderError",
    "build_info",
    "ops",
    "sources",
]
