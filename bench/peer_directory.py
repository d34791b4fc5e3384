"""A folder of class folders as a tf.data.Dataset: this project's image_dataset_from_directory, or Keras'.

The variant is keras, or our dct_method. The folder is that of the first picture's class.
"""

import os
from pathlib import Path
from typing import Any

from peer import BATCH, SEED, SIDE, Work, serve, tensors, work

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")


def make(task: Work) -> Any:
    """The data set; but for the variant and the workers one call is the other."""
    folder = Path(task.paths[0]).parent.parent
    options: dict[str, Any] = {
        "label_mode": "categorical",
        "batch_size": BATCH,
        "image_size": (SIDE, SIDE),
        "seed": SEED,
        "verbose": False,
    }
    if task.variant == "keras":
        import keras

        return keras.utils.image_dataset_from_directory(folder, **options)
    import tfgoloader as tgl

    return tgl.image_dataset_from_directory(folder, **options, dct_method=task.variant, num_workers=task.workers)


def main() -> None:
    task = work()
    packages = ["keras"] if task.variant == "keras" else ["tfgoloader"]
    serve(task, tensors(make(task)), [*packages, "tensorflow-cpu", "tensorflow", "numpy"])


if __name__ == "__main__":
    main()
