"""A Keras callback that measures what feeding a training costs, the same way for whatever feeds it."""

import time
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
    """Measures every epoch of `fit` over a data set that it has put a clock in; epochs holds what each cost."""

    def __init__(self) -> None:
        super().__init__()
        self.epochs: list[Cost] = []
        self._images = tf.Variable(0, dtype=tf.int64)
        self._waited = tf.Variable(0.0, dtype=tf.float64)

    def clocked(self, dataset: tf.data.Dataset) -> tf.data.Dataset:
        """Returns the data set with TensorFlow's clock read before a batch is asked for, and when it is there."""

        def note(asked: tf.Tensor, batch: Any) -> Any:
            self._waited.assign_add(tf.timestamp() - asked)
            self._images.assign_add(tf.shape(batch[0], tf.int64)[0])
            return batch

        # zip asks its data sets in turn.
        asked = tf.data.Dataset.counter().map(lambda _: tf.timestamp())
        return tf.data.Dataset.zip(asked, dataset).map(note)

    def total(self, skip: int = 0) -> Cost:
        """All epochs together, but for the first few."""
        total = Cost()
        for cost in self.epochs[skip:]:
            total.images += cost.images
            total.seconds += cost.seconds
            total.waited += cost.waited
            total.cpu += cost.cpu
        return total

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epochs.append(Cost())
        self._images.assign(0)
        self._waited.assign(0.0)
        self._start, self._start_cpu = time.perf_counter(), time.process_time()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.epochs[-1].seconds = time.perf_counter() - self._start
        self.epochs[-1].cpu = time.process_time() - self._start_cpu

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epochs[-1].images = int(self._images.numpy())
        self.epochs[-1].waited = float(self._waited.numpy())
