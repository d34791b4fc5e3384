"""Policies choose as Keras' and torchvision's rules say; what they choose from has tests of its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

SIZE = 48
COPIES = 3_000


@pytest.fixture(scope="module")
def whole() -> np.ndarray:
    """A picture that every operation changes."""
    return (20 + pictures.photograph(SIZE, SIZE, 3) // 4 * 3).astype(np.uint8)


@pytest.fixture(scope="module")
def path(whole: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("policies") / "photograph.png"
    Image.fromarray(whole).save(file)
    return file


def load(path: Path, op: ops.Op, copies: int = COPIES) -> np.ndarray:
    source = tgl.sources.Paths([path] * copies)
    with tgl.ImageLoader(source, [ops.CenterCrop(SIZE, SIZE), op], seed=2, dtype="uint8", batch_size=500) as loader:
        return np.concatenate(list(loader))


def kinds(images: np.ndarray) -> Counter[bytes]:
    return Counter(image.tobytes() for image in images)


def assert_share(count: int, share: float, of: int = COPIES) -> None:
    """Allow four standard deviations."""
    assert abs(count - share * of) <= 4 * np.sqrt(of * share * (1 - share)) + 1


def test_rand_augment_chooses_evenly_among_the_layers_operations(path: Path, whole: np.ndarray, keras: Any) -> None:
    """With a factor of 0 Keras' operations are known pictures, some of them the same."""
    batch = whole[None].astype(np.float32)
    layers = keras.layers
    known = [
        layers.RandomShear((0.0, 0.0), (0.0, 0.0)),
        layers.RandomTranslation((0.0, 0.0), (0.0, 0.0)),
        layers.RandomRotation((0.0, 0.0)),
        layers.RandomBrightness((0.0, 0.0)),
        layers.RandomColorDegeneration((0.0, 0.0)),
        layers.RandomContrast((0.0, 0.0)),
        layers.RandomSharpness((0.0, 0.0)),
        layers.Solarization((0.0, 0.0), (0.0, 0.0)),
        layers.RandomPosterization((1, 1)),
        layers.AutoContrast(),
        layers.Equalization(),
    ]
    theirs = [np.asarray(layer(batch, training=True))[0] for layer in known]
    ours = load(path, ops.RandAugment(num_ops=1, factor=(0.0, 0.0)))
    counts = np.zeros(len(known))
    for picture, count in kinds(ours).items():
        shown = np.frombuffer(picture, np.uint8).reshape(whole.shape).astype(float)
        matching = [i for i, image in enumerate(theirs) if np.abs(np.clip(image, 0, 255) - shown).mean() < 0.6]
        assert matching, "a picture that none of the layers makes"
        counts[matching] += count / len(matching)
    for i in range(len(known)):
        same = sum(np.abs(theirs[i] - other).mean() < 0.6 for other in theirs)
        assert_share(round(counts[i] * same), same / len(known))


def test_rand_augment_of_two_is_two_of_one(path: Path) -> None:
    """Posterizing and inverting nothing: the pictures of two operations are those of one, applied twice."""
    once = kinds(load(path, ops.RandAugment(num_ops=1, factor=(0.0, 0.0))))
    twice = kinds(load(path, ops.RandAugment(num_ops=2, factor=(0.0, 0.0))))
    assert len(once) < len(twice) <= len(once) ** 2
    assert set(once) & set(twice)


def test_random_apply_one_of_and_random_order(path: Path, whole: np.ndarray) -> None:
    inverted, posterized = 255 - whole, whole & 0xE0
    invert, posterize = ops.RandomInvert((1.0, 1.0)), ops.RandomPosterization((3, 3))
    applied = kinds(load(path, ops.RandomApply([invert, posterize], p=0.25)))
    assert set(applied) == {whole.tobytes(), (inverted & 0xE0).tobytes()}
    assert_share(applied[whole.tobytes()], 0.75)
    chosen = kinds(load(path, ops.OneOf([invert, posterize], weights=[4, 1])))
    assert set(chosen) == {inverted.tobytes(), posterized.tobytes()}
    assert_share(chosen[inverted.tobytes()], 0.8)
    ordered = kinds(load(path, ops.RandomOrder([invert, posterize])))
    assert set(ordered) == {(inverted & 0xE0).tobytes(), (255 - posterized).tobytes()}
    assert_share(ordered[(inverted & 0xE0).tobytes()], 0.5)


def test_aug_mix_is_a_blend_of_what_the_chains_make(path: Path, whole: np.ndarray) -> None:
    """One chain of one operation that is known: the picture lies between the two, with a weight from Beta(2, 2)."""
    images = load(path, ops.AugMix(num_chains=1, chain_depth=1, factor=(0.0, 0.0), alpha=2.0, all_ops=False))
    black_or_white = (whole & 0x80).astype(float)  # posterization to one bit, one of seven operations and none
    line = black_or_white - whole
    weights = []
    for image in images:
        share = float(((image - whole.astype(float)) * line).sum() / (line * line).sum())
        if share > 0.02 and np.abs(whole + share * line - image).max() <= 1:
            weights.append(share)
    assert_share(len(weights), 1 / 8 * 0.9988)  # so much of the law lies above 0.02
    law = np.sort(weights)
    cumulative = 3 * law**2 - 2 * law**3
    steps = np.arange(len(law)) / len(law)
    assert max(np.abs(cumulative - steps).max(), np.abs(cumulative - steps - 1 / len(law)).max()) < 1.95 / np.sqrt(
        len(law)
    )


def test_aug_mix_leaves_the_picture_where_no_operation_changes_it(path: Path, whole: np.ndarray) -> None:
    op = ops.AugMix(factor=(0.0, 0.0), all_ops=False, num_chains=2, chain_depth=1)
    images = load(path, op, 300)
    same = sum(np.array_equal(image, whole) for image in images)
    assert_share(same, (4 / 8) ** 2, 300)  # shear, translation, rotation by nothing, and none


def test_trivial_augment_applies_one_of_a_few_operations(path: Path, whole: np.ndarray) -> None:
    """torchvision's rule for TrivialAugmentWide: 14 operations, 31 magnitudes, two directions for nine of them."""
    found = kinds(load(path, ops.TrivialAugmentWide()))
    assert len(found) <= 9 * 60 + 31 + 7 + 3
    # In 31sts: Identity, nine by nothing, posterization that keeps all 8 bits, and solarization that inverts nothing.
    above = sum(255 * (1 - level / 30) > whole.max() for level in range(31))
    assert_share(found[whole.tobytes()], (31 + 9 + 3 + above) / (14 * 31))


# Of each pair of the published policy, the probabilities, 0 where the magnitude changes nothing.
PAIRS = [
    *((0.4, 0.6), (0.6, 0.6), (0.8, 0.6), (0.6, 0.6), (0.4, 0.2), (0.4, 0.8), (0.6, 0.6), (0.8, 1.0), (0.2, 0.6)),
    *((0.6, 0.4), (0.8, 0.0), (0.4, 0.6), (0.0, 0.8), (0.6, 1.0), (0.6, 1.0), (0.8, 1.0), (0.8, 0.8), (0.4, 0.6)),
    *((0.6, 1.0), (0.0, 0.6), (0.4, 0.2), (0.6, 0.6), (0.6, 1.0), (0.6, 1.0), (0.8, 0.6)),
]


def test_auto_augment_applies_its_pairs_with_their_probabilities(path: Path, whole: np.ndarray) -> None:
    found = kinds(load(path, ops.AutoAugment()))
    assert_share(found[whole.tobytes()], np.mean([(1 - first) * (1 - second) for first, second in PAIRS]))
    # Inverted alone: of one pair, 0.6 without the 0.4 of the first.
    assert_share(found[(255 - whole).tobytes()], 0.6 * 0.6 / 25)
