"""Pictures whose pixels are known without a decoder."""

import numpy as np
from PIL import Image

SIZE = 8  # height and width


def flat_pictures(folder, count):
    """Write `count` pictures, the i-th one gray of level i, which JPEG keeps exactly; return their paths."""
    paths = [folder / f"{level:03}.jpg" for level in range(count)]
    for level, path in enumerate(paths):
        Image.new("L", (SIZE, SIZE), level).save(path, quality=100)
    return paths


def levels(images):
    """Return the gray level of every picture of a batch, having checked that the pictures are flat."""
    first = images[:, :1, :1, :1]
    np.testing.assert_array_equal(images, np.broadcast_to(first, images.shape))
    return first.ravel().tolist()
