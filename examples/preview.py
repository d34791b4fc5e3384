"""Saves one picture of what a model would be fed: a grid of augmented samples with the names of their classes.

    python examples/preview.py train.txt --root images --output preview.png

`train.txt` holds "path label" a line.
"""

import argparse

from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("list", help="file with a path and a label a line")
parser.add_argument("--root", default=None, help="folder that the paths begin at")
parser.add_argument("--size", type=int, default=224)
parser.add_argument("--samples", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--output", default="preview.png")
arguments = parser.parse_args()

augmentation = [
    ops.RandomResizedCrop(arguments.size, arguments.size, scale=(0.3, 1.0)),
    ops.RandomFlip("horizontal"),
    ops.RandAugment(num_ops=2, factor=0.3),
]
source = tgl.sources.ListFile(arguments.list, root=arguments.root)
with tgl.ImageLoader(source, augmentation, shuffle=True, seed=arguments.seed) as loader:
    Image.fromarray(loader.preview(arguments.samples)).save(arguments.output)
print(arguments.output)
