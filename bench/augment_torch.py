"""torch's DataLoader with torchvision's decoder and transforms, on 8-bit tensors until the last step; or Pillow's."""

from typing import Any

import torch
from PIL import Image
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms import v2

from augment_work import DEVIATION, MEAN, RANDOM_RESIZED_CROP, RATIO, RESIZE_SHORTER, SCALE, SHORTER
from peer import SIDE, work
from peer_torch import deliver


def main() -> None:
    task = work()
    job, _, decoder = task.variant.partition("/")
    if job == RANDOM_RESIZED_CROP:
        steps = [v2.RandomResizedCrop(SIDE, SCALE, RATIO, antialias=True), v2.RandomHorizontalFlip()]
    else:
        steps = [v2.Resize(SHORTER, antialias=True), v2.CenterCrop(SIDE)]
    if decoder == "pillow":
        steps.append(v2.PILToTensor())
    # Float values of 0 to 255: one pass less than scaling to 0 to 1 first.
    transform = v2.Compose([*steps, v2.ToDtype(torch.float32), v2.Normalize(MEAN, DEVIATION, inplace=True)])

    def load(path: str) -> Any:
        if decoder == "pillow":
            with Image.open(path) as picture:
                return transform(picture.convert("RGB"))
        return transform(decode_jpeg(read_file(path), mode=ImageReadMode.RGB))

    deliver(task, load, ["pillow"], shuffle=job != RESIZE_SHORTER)


if __name__ == "__main__":
    main()
