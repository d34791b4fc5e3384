"""Operations that mix the samples of a batch. They come last in the list, after all operations on pictures.

Names, arguments and laws are those of the Keras 3.15 layers. Labels are mixed with the pictures, so they have to be
rows: labels=ops.OneHot(n). A batch is mixed once it is complete, as it is handed over: what is drawn depends on seed,
epoch and the batch's place in its epoch alone. Pictures of integer dtypes are rounded to the nearest value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfgoloader.ops._op import BatchOp


@dataclass(frozen=True)
class MixUp(BatchOp):
    """Gives w * x + (1 - w) * y, picture and label, y being another sample of the batch (keras.layers.MixUp).

    A random permutation of the batch says which one; w, one for each sample, is of the law Beta(alpha, alpha). See
    https://arxiv.org/abs/1710.09412.

    Args:
        alpha: from 1e-6 to 1e6; the smaller, the nearer is w to 0 or 1.
    """

    alpha: float = 0.2

    def __post_init__(self) -> None:
        self._check_number("alpha", 1e-6, 1e6)


@dataclass(frozen=True)
class CutMix(BatchOp):
    """Puts a rectangle of another sample of the batch in the same place of the picture (keras.layers.CutMix).

    A random permutation of the batch says which one. The rectangle has the picture's aspect ratio, lies anywhere in
    it, and leaves a share w of its area, of the law Beta(a, a), one for each sample; a is drawn from the factor's
    range, once for a batch. The label is w * x + (1 - w) * y, with the w that the whole pixels of the rectangle leave.
    See https://arxiv.org/abs/1905.04899.

    Args:
        factor: the ends of the range of a, from 0 to 1; one number f stands for the range from 0 to f.
    """

    factor: float | Sequence[float] = 1.0

    def __post_init__(self) -> None:
        self._check_range("factor")
