"""A Keras callback that measures what feeding a training costs, the same way for whatever feeds it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf


@dataclass
class Cost:
    """Of training, without validation."""

    images: int = 0
    seconds: float = 0.0  # from the epoch's start, before the first batch is asked for, to the end of its last step
    waited: float = 0.0  # seconds of these until the next batch was there
    cpu: float = 0.0  # CPU seconds of the whole process, all threads

    @property
    def rate(self) -> float:
        """Images a second."""
        return self.images / self.seconds

    @property
    def waited_share(self) -> float:
        """Of the seconds."""
        return self.waited / self.seconds

    @property
    def cpu_per_1000(self) -> float:
        """CPU seconds for 1,000 images."""
        return 1000 * self.cpu / self.images


class Meter(keras.callbacks.Callback):  # type: ignore[misc]  # Keras has no types
    """Measures every epoch of `fit`; epochs holds what each cost.

    Keras fetches the next batch inside its compiled function, where no clock can stand, so the callback puts
    a function of two halves in its place: fetch, then the compiled step.
    """

    def __init__(self) -> None:
        super().__init__()
        self.epochs: list[Cost] = []
        self._step: Any = None

    def total(self, skip: int = 0) -> Cost:
        """All epochs together, but for the first few."""
        total = Cost()
        for cost in self.epochs[skip:]:
            total.images += cost.images
            total.seconds += cost.seconds
            total.waited += cost.waited
            total.cpu += cost.cpu
        return total

    def on_train_begin(self, logs: Any = None) -> None:
        if self._step is None:
            self._step = tf.function(self.model.train_step)
        self.model.train_function = self._train

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epochs.append(Cost())
        self._start, self._start_cpu = time.perf_counter(), time.process_time()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.epochs[-1].seconds = time.perf_counter() - self._start
        self.epochs[-1].cpu = time.process_time() - self._start_cpu

    def _train(self, iterator: Iterator[Any]) -> Any:
        asked = time.perf_counter()
        batch = next(iterator)
        cost = self.epochs[-1]
        cost.waited += time.perf_counter() - asked
        cost.images += len(batch[0])
        return self._step(batch)
