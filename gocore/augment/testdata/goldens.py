"""Writes goldens.json: what the operations of torchvision's policies make of a picture.

Run with torch and torchvision installed: python goldens.py
"""

import base64
import json
from pathlib import Path

import numpy as np
import torch
from torchvision.transforms import InterpolationMode
from torchvision.transforms.autoaugment import _apply_op

HEIGHT, WIDTH = 24, 31
MAGNITUDES = {
    "ShearX": [0.3, -0.21],
    "ShearY": [0.4, -0.12],
    "TranslateX": [5.7, -9.2],
    "TranslateY": [3.0, -6.9],
    "Rotate": [30.0, -77.0],
    "Brightness": [0.9, -0.45],
    "Color": [0.9, -0.6],
    "Contrast": [0.5, -0.7],
    "Sharpness": [0.9, -0.8],
    "Posterize": [3.0, 6.0],
    "Solarize": [120.0, 31.5],
    "AutoContrast": [0.0],
    "Equalize": [0.0],
    "Invert": [0.0],
}

random = np.random.default_rng(1)
smooth = np.kron(random.integers(30, 200, (4, 4, 3)), np.ones((6, 8, 1)))[:HEIGHT, :WIDTH]
picture = (smooth + random.integers(0, 40, smooth.shape)).astype(np.uint8)
tensor = torch.from_numpy(picture).permute(2, 0, 1)


def encode(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


cases = [
    {
        "op": name,
        "magnitude": magnitude,
        "interpolation": mode.value,
        "want": encode(_apply_op(tensor, name, magnitude, mode, [17.0, 200.0, 90.0]).permute(1, 2, 0).numpy()),
    }
    for name, magnitudes in MAGNITUDES.items()
    for magnitude in magnitudes
    for mode in (InterpolationMode.NEAREST, InterpolationMode.BILINEAR)
    if mode is InterpolationMode.NEAREST or name.startswith(("Shear", "Translate", "Rotate"))
]
document = {"height": HEIGHT, "width": WIDTH, "picture": encode(picture), "cases": cases}
Path(__file__).with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
