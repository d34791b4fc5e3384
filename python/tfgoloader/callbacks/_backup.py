"""A backup of the whole training, from which a killed run goes on as if nothing had been."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import keras
import numpy as np

from tfgoloader import _check
from tfgoloader._errors import ConfigError
from tfgoloader._loader import ImageLoader
from tfgoloader._position import Position

# Ends the epoch's steps, as True does, and can be told from the True of another callback that ends the training.
_EPOCH_IS_OVER = object()


class BackupAndRestore(keras.callbacks.Callback):  # type: ignore[misc]
    """Backs up model, optimizer and the loader's position; `fit` in a new process goes on at the very next batch.

    The backup holds all variables of the model (weights, states of layers and of their random seeds) and of the
    optimizer, Keras' epoch and step, and the loader's `state_dict` after the steps that were trained, however many
    batches were fetched ahead. It is one file, complete at any moment: a new one is written beside it, synchronised,
    and takes its place.

    The loader feeds the training and nothing else, one batch a step: by `loader.as_keras()` or `loader.as_dataset()`,
    mapped if you like; with `steps_per_epoch` by `as_keras(repeat=True)` or `as_dataset().repeat()`. Works on the
    TensorFlow, JAX and PyTorch backends. Weights end bit-equal to those of a run that was never killed, as far as the
    backend's operations give the same bits twice.

    A step that is the last of its epoch is backed up after the validation, so that a run which is killed while it
    validates does the steps since the last backup again, and validates. Metrics of an epoch that was resumed are those
    of the steps since then, and so are the numbers of its batches, and the progress bar's. What other callbacks keep in
    Python (patience, best value) is not in the backup; neither are global random generators, but for PyTorch's, which
    Keras' layers draw from.

    Args:
        directory: where the backup lies; made if it is not there.
        save_freq: "epoch", or a number of steps, at least 1.
        loader: the ImageLoader that feeds the training.
        delete_checkpoint: whether the backup goes when the training is done, so that the next `fit` starts anew.

    Raises:
        ConfigError: an argument is wrong; in `fit`: data set, loader, model or steps are not those of the backup.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        save_freq: str | int = "epoch",
        *,
        loader: ImageLoader,
        delete_checkpoint: bool = True,
    ) -> None:
        super().__init__()
        if not isinstance(directory, (str, os.PathLike)):
            _check.fail("directory", directory, "a path")
        if not isinstance(loader, ImageLoader):
            _check.fail("loader", loader, "the ImageLoader that feeds the training")
        if save_freq != "epoch" and (isinstance(save_freq, str) or _check.integer("save_freq", save_freq, 1) < 1):
            _check.fail("save_freq", save_freq, "'epoch' or an integer >= 1")
        self._file = Path(directory) / "backup.npz"
        self._frequency = save_freq
        self._loader = loader
        self._delete = _check.boolean("delete_checkpoint", delete_checkpoint)

    def on_train_begin(self, logs: Any = None) -> None:
        """Restore the backup, if there is one."""
        self._steps: int | None = self.params.get("steps")
        if self._steps is not None and self._loader._on_error == "skip":
            _check.fail("steps_per_epoch", self._steps, 'None with on_error="skip", where epochs differ in length')
        self._resumed = 0  # steps of the first epoch that an earlier run did
        self._unsaved = 0  # steps since the last backup
        if self._file.exists():
            self._restore()
        self._position = self._loader._progress.upcoming

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Count from here."""
        self._epoch = epoch
        self._step = self._resumed

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Count the steps, back up where it is time, and end the epoch where an earlier run did its first part."""
        step = self._resumed + batch + 1
        if self._steps is not None:
            step = min(step, self._steps)  # with steps_per_execution the last ones may be fewer
        self._advance(step - self._step)
        if step == self._steps:
            if self._resumed and not self.model.stop_training:
                self.model.stop_training = _EPOCH_IS_OVER
        elif self._frequency != "epoch" and self._unsaved >= int(self._frequency):
            self._save(self._epoch, self._step)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Back up where it is time."""
        if self.model.stop_training is _EPOCH_IS_OVER:
            self.model.stop_training = False
        if self._steps is None:
            self._position = Position(self._position.epoch + 1)
        self._resumed = 0
        if self._frequency == "epoch" or self._unsaved >= int(self._frequency):
            self._save(epoch + 1, 0)

    def on_train_end(self, logs: Any = None) -> None:
        """Delete the backup: the training is done."""
        self.model._initial_epoch = None
        if self._delete:
            self._file.unlink(missing_ok=True)

    def _advance(self, steps: int) -> None:
        self._step += steps
        self._unsaved += steps
        epoch, batch = self._position.epoch, self._position.batch + steps
        if self._steps is not None:
            epoch, batch = epoch + batch // len(self._loader), batch % len(self._loader)
        self._position = self._loader._progress.find(epoch, batch)

    def _variables(self) -> list[Any]:
        optimizer = self.model.optimizer
        return [*self.model.variables, *(optimizer.variables if optimizer else ())]

    def _save(self, epoch: int, step: int) -> None:
        values = [_to_numpy(variable) for variable in self._variables()]
        state = {
            "epoch": epoch,
            "step": step,
            "steps": self._steps,
            "loader": self._loader._state(self._position),
            "variables": _describe(self._variables()),
        }
        # As bytes, since the NumPy format knows no bfloat16.
        arrays = {str(number): np.frombuffer(value.tobytes(), np.uint8) for number, value in enumerate(values)}
        arrays |= {f"random {number}": state for number, state in enumerate(_random_states())}
        arrays["state"] = np.frombuffer(json.dumps(state).encode(), np.uint8)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        beside = self._file.with_suffix(".tmp")
        with open(beside, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self._file)
        folder = os.open(self._file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        self._unsaved = 0

    def _restore(self) -> None:
        with np.load(self._file) as arrays:
            state = json.loads(arrays["state"].tobytes())
            values = [arrays[str(number)].tobytes() for number in range(len(state["variables"]))]
            random = [arrays[name] for name in arrays.files if name.startswith("random")]
        if state["steps"] != self._steps:
            _check.fail("steps_per_epoch", self._steps, f"{state['steps']}, that of the backup {self._file}")
        self._loader.load_state_dict(state["loader"])
        self._build()
        variables = self._variables()
        if (here := _describe(variables)) != state["variables"]:
            differs = [f"{a} here, {b} there" for a, b in zip(here, state["variables"], strict=False) if a != b]
            raise ConfigError(
                f"the model is not that of the backup {self._file}: {len(here)} variables here, "
                f"{len(state['variables'])} there{'; ' + differs[0] if differs else ''}"
            )
        for variable, value, (shape, dtype) in zip(variables, values, state["variables"], strict=True):
            variable.assign(np.frombuffer(value, np.dtype(dtype)).reshape(shape))
        _set_random_states(random)
        epoch = state["epoch"]
        if self._steps is None and self._epoch_is_over():
            self._loader._progress.jump(Position(self._loader._progress.upcoming.epoch + 1))
            epoch += 1
        else:
            self._resumed = state["step"]
        self.model._initial_epoch = epoch

    def _epoch_is_over(self) -> bool:
        """Tell whether bad files have left nothing of the loader's epoch."""
        start = self._loader._progress.upcoming
        samples = self._loader.num_samples if start.tail < 0 else start.tail
        full, rest = divmod(samples, self._loader._batch_size)
        return start.batch >= full + (rest > 0 and not self._loader._drop_remainder)

    def _build(self) -> None:
        """Make the variables, where a first step would have made them."""
        model = self.model
        if not model.built:
            spec = self._loader.element_spec
            images = spec[0] if isinstance(spec, tuple) else spec
            model.build((None, *images.shape[1:]))
        if model.optimizer and not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)


def _to_numpy(variable: Any) -> Any:
    value = variable.value
    # Keras' own conversion of a tf.Variable makes NumPy warn.
    return value.numpy() if keras.backend.backend() == "tensorflow" else keras.ops.convert_to_numpy(value)


def _random_states() -> list[Any]:
    """Return the states of PyTorch's global generators, which a Dropout layer without a seed draws from."""
    if keras.backend.backend() != "torch":
        return []
    import torch

    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return [state.numpy() for state in (torch.get_rng_state(), *devices)]


def _set_random_states(states: list[Any]) -> None:
    if states and keras.backend.backend() == "torch":
        import torch

        torch.set_rng_state(torch.from_numpy(states[0]))
        if torch.cuda.is_available() and len(states) == 1 + torch.cuda.device_count():
            torch.cuda.set_rng_state_all([torch.from_numpy(state) for state in states[1:]])


def _describe(variables: list[Any]) -> list[list[Any]]:
    # Not their names, in which Keras numbers the layers that a process makes.
    return [[list(v.shape), keras.backend.standardize_dtype(v.dtype)] for v in variables]
