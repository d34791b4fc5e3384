"""One pass over a loader's samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfgoloader import _exit, _native
from tfgoloader._call import Header
from tfgoloader._core import ENDED, PENDING, Handle, call
from tfgoloader._errors import FunctionError, TfGoLoaderError
from tfgoloader._position import Position

if TYPE_CHECKING:
    from tfgoloader._loader import ImageLoader


class Epoch:
    """One pass over the samples; it ends with its last batch, or when it is dropped."""

    def __init__(self, loader: ImageLoader) -> None:
        self.entered = False
        self._loader = loader
        self._iteration, self._number, handle = loader._progress.begin(loader._open_epoch)
        self._handle = Handle(handle)
        _exit.watch(self)

    def close(self) -> None:
        """Give up the rest of the epoch."""
        self._handle.close()

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> Any:
        self.entered = True
        try:
            return self._wait()
        finally:
            self.entered = _exit.exiting

    def _wait(self) -> Any:
        while not _exit.exiting:  # back in Python ten times a second, where Ctrl-C is seen
            failure: BaseException | None = None
            try:
                address = call(_native.pybind_Next, self._handle.number)
            except FunctionError as error:
                failure = self._loader._crew.original(error)
                if failure is error:
                    raise
            except TfGoLoaderError:
                if _exit.exiting:
                    break
                raise
            if failure is not None:  # raised here, or the error would be its context
                try:
                    if isinstance(failure, StopIteration):  # which would look like the epoch's end
                        raise RuntimeError("a function raised StopIteration") from failure
                    raise failure
                finally:
                    del failure  # its traceback has this frame
            if address == ENDED:
                self._loader._progress.hand_over(self._iteration, Position(self._number + 1))
                self._loader._end_epoch()
                break
            if address != PENDING:
                batch = self._loader._batch(address)
                self._loader._progress.hand_over(self._iteration, self._loader._after(Header.from_address(address)))
                return batch
        raise StopIteration
