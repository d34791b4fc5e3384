"""What happens to a picture, and to its label. Names and arguments are those of the Keras layers.

Operations are values: they draw nothing themselves. The core draws for each sample from (seed, epoch, index),
before it decodes the picture; operations on batches draw from (seed, epoch, batch).
"""

from tfgoloader.ops._adapters import from_albumentations, from_keras_layer, from_torchvision
from tfgoloader.ops._colour import (
    AutoContrast,
    Equalization,
    RandomBrightness,
    RandomColorDegeneration,
    RandomColorJitter,
    RandomContrast,
    RandomErasing,
    RandomGaussianBlur,
    RandomGrayscale,
    RandomHue,
    RandomInvert,
    RandomPosterization,
    RandomSaturation,
    RandomSharpness,
    Solarization,
)
from tfgoloader.ops._external import Native, Python
from tfgoloader.ops._geometry import (
    CenterCrop,
    Pad,
    RandomCrop,
    RandomFlip,
    RandomPerspective,
    RandomRotation,
    RandomShear,
    RandomTranslation,
    RandomZoom,
)
from tfgoloader.ops._labels import OneHot
from tfgoloader.ops._mixing import CutMix, MixUp
from tfgoloader.ops._op import BatchOp, Op
from tfgoloader.ops._policies import (
    AugMix,
    AutoAugment,
    OneOf,
    RandAugment,
    RandomApply,
    RandomOrder,
    TrivialAugmentWide,
)
from tfgoloader.ops._resizing import RandomResizedCrop, ResizeShorter, ResizeWithPad, Resizing
from tfgoloader.ops._values import Normalization, Rescaling

__all__ = [
    "AugMix",
    "AutoAugment",
    "AutoContrast",
    "BatchOp",
    "CenterCrop",
    "CutMix",
    "Equalization",
    "MixUp",
    "Native",
    "Normalization",
    "OneHot",
    "OneOf",
    "Op",
    "Pad",
    "Python",
    "RandAugment",
    "RandomApply",
    "RandomBrightness",
    "RandomColorDegeneration",
    "RandomColorJitter",
    "RandomContrast",
    "RandomCrop",
    "RandomErasing",
    "RandomFlip",
    "RandomGaussianBlur",
    "RandomGrayscale",
    "RandomHue",
    "RandomInvert",
    "RandomOrder",
    "RandomPerspective",
    "RandomPosterization",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSaturation",
    "RandomSharpness",
    "RandomShear",
    "RandomTranslation",
    "RandomZoom",
    "Rescaling",
    "ResizeShorter",
    "ResizeWithPad",
    "Resizing",
    "Solarization",
    "TrivialAugmentWide",
    "from_albumentations",
    "from_keras_layer",
    "from_torchvision",
]
