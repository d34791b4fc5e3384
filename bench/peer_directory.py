"""A folder of class folders as a tf.data.Dataset: this project's image_dataset_from_directory, or Keras'.

The command line is FOLDER EPOCHS TURNS VARIANT; the variant is keras, or our dct_method.
"""

import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from peer import BATCH, SEED, SIDE, Work, serve

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")


def make(folder: str, variant: str) -> Any:
    """The data set; but for the variant one call is the other."""
    options: dict[str, Any] = {
        "label_mode": "categorical",
        "batch_size": BATCH,
        "image_size": (SIDE, SIDE),
        "seed": SEED,
        "verbose": False,
    }
    if variant == "keras":
        import keras

        return keras.utils.image_dataset_from_directory(folder, **options)
    import tfgoloader as tgl

    return tgl.image_dataset_from_directory(folder, **options, dct_method=variant)


def main() -> None:
    folder, epochs, turns, variant = sys.argv[1:]
    dataset = make(folder, variant)
    task = Work(variant, dataset.file_paths, np.empty(0, np.int64), 0, int(epochs), int(turns))

    def epoch() -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        return ((images._numpy(), labels._numpy()) for images, labels in dataset)

    packages = ["keras"] if variant == "keras" else ["tfgoloader"]
    serve(task, epoch, [*packages, "tensorflow-cpu", "tensorflow", "numpy"])


if __name__ == "__main__":
    main()
