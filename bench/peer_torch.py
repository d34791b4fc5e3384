"""torch's DataLoader: a process a worker, Pillow, torchvision's transforms. Its batches are channels first."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from numpy.typing import NDArray
from PIL import Image
from torch.nn.functional import one_hot
from torch.utils.data import DataLoader
from torchvision.transforms import v2

from peer import BATCH, SEED, SIDE, Work, serve, work


class Pictures:
    """One picture and its label, by index: what torch calls a map-style data set."""

    def __init__(self, task: Work, load: Callable[[str], Any]) -> None:
        self.task, self.load = task, load

    def __len__(self) -> int:
        return len(self.task.paths)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        label = one_hot(torch.tensor(self.task.labels[index]), self.task.classes).float()
        return self.load(self.task.paths[index]), label


def deliver(task: Work, load: Callable[[str], Any], packages: list[str], shuffle: bool = True) -> None:
    """Takes the turns; load makes a tensor of a file."""
    torch.manual_seed(SEED)
    loader = DataLoader(
        Pictures(task, load), BATCH, shuffle=shuffle, drop_last=True, num_workers=task.workers, persistent_workers=True
    )

    def epoch() -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        return ((images.numpy(), labels.numpy()) for images, labels in loader)

    serve(task, epoch, ["torch", "torchvision", "numpy", *packages])


def main() -> None:
    scale = v2.Normalize([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])
    to_float = [v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True)]
    transform = v2.Compose([v2.RandomCrop(SIDE), v2.RandomHorizontalFlip(), *to_float, scale])

    def load(path: str) -> Any:
        with Image.open(path) as picture:
            return transform(picture.convert("RGB"))

    deliver(work(), load, ["pillow"])


if __name__ == "__main__":
    main()
