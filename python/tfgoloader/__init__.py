"""Feeds images to Keras and NumPy from a Go core that reads, decodes and augments on all cores without the GIL."""

from importlib.metadata import version as _version
from pathlib import Path as _Path

from tfgoloader import callbacks, ops, sources
from tfgoloader._core import build_info
from tfgoloader._elements import ArraySpec
from tfgoloader._errors import (
    ConfigError,
    DecodeError,
    ForkError,
    FunctionError,
    InternalError,
    OutOfMemoryError,
    SourceError,
    TfGoLoaderError,
)
from tfgoloader._image_data_generator import from_image_data_generator
from tfgoloader._image_dataset import image_dataset_from_directory
from tfgoloader._loader import ImageLoader
from tfgoloader._preprocess import Preprocess
from tfgoloader._replay import Replay

__version__ = _version("tfgoloader")


def get_include() -> str:
    """Return the folder of tfgoloader_native.h, for the C compiler: what a function for ops.Native looks like."""
    return str(_Path(__file__).parent / "include")


__all__ = [
    "ArraySpec",
    "ConfigError",
    "DecodeError",
    "ForkError",
    "FunctionError",
    "ImageLoader",
    "InternalError",
    "OutOfMemoryError",
    "Preprocess",
    "Replay",
    "SourceError",
    "TfGoLoaderError",
    "build_info",
    "callbacks",
    "from_image_data_generator",
    "get_include",
    "image_dataset_from_directory",
    "ops",
    "sources",
]
