"""Transforms of other libraries give what they give by hand, with the seed that the operation's rng draws."""

import copy
import os
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # it would ask the network for a newer version
import albumentations as A

COUNT, SEED = 7, 11
HEIGHT, WIDTH = 40, 52
CROP = ops.CenterCrop(HEIGHT, WIDTH)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Pictures with masks and boxes, all of one size."""
    folder = tmp_path_factory.mktemp("pictures")
    paths, masks = [], []
    for i in range(COUNT):
        paths.append(folder / f"{i}.png")
        Image.fromarray(pictures.photograph(HEIGHT, WIDTH, i)).save(paths[-1])
        masks.append(folder / f"mask-{i}.png")
        Image.fromarray((np.indices((HEIGHT, WIDTH)) // (5 + i)).sum(axis=0).astype(np.uint8)).save(masks[-1])
    boxes = [[(4, 6, 30 + i, 33), (10, 12, 18, 20)] for i in range(COUNT)]
    return tgl.sources.Paths(paths, range(COUNT), masks=masks, boxes=boxes, box_labels=[[1, 2]] * COUNT)


def samples(source, pipeline, **options):
    """Return the pictures, masks and boxes of every sample, these with their labels."""
    found = []
    arguments = {"batch_size": 3, "seed": SEED, "dtype": "uint8", **options}
    with tgl.ImageLoader(source, pipeline, **arguments) as loader:
        for images, targets in loader:
            boxes = targets["bounding_boxes"]
            for row, image in enumerate(images):
                count = boxes["count"][row]
                mask = targets["segmentation_masks"][row, ..., 0]
                found.append((image.copy(), mask.copy(), boxes["boxes"][row, :count], boxes["labels"][row, :count]))
    return found


def generator(index):
    return np.random.default_rng([SEED, 0, index, 1])


def assert_same(ours, by_hand):
    assert len(ours) == len(by_hand) == COUNT
    for mine, theirs in zip(ours, by_hand, strict=True):
        for part, expected in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(part, expected, atol=1e-4)


def compose(**boxes):
    transforms = [A.HorizontalFlip(p=0.5), A.RandomBrightnessContrast(p=0.7), A.Affine(rotate=(-20, 20), p=1.0)]
    return A.Compose(transforms, bbox_params=A.BboxParams(**boxes) if boxes else None)


class TestAlbumentations:
    @pytest.mark.parametrize("options", [{"workers": 1}, {"workers": 3}, {"executor": "process", "workers": 2}])
    def test_pictures_masks_and_boxes(self, source, options):
        transform = compose(format="pascal_voc", label_fields=["classes"])
        ours = samples(source, [CROP, ops.from_albumentations(transform, **options)])
        by_hand, again = [], copy.deepcopy(transform)
        for index, (image, mask, boxes, labels) in enumerate(samples(source, [CROP])):
            again.set_random_seed(int(generator(index).integers(2**32)))
            done = again(image=image, mask=mask, bboxes=boxes.astype(np.float64), classes=labels)
            by_hand.append((done["image"], done["mask"], np.reshape(done["bboxes"], (-1, 4)), done["classes"]))
        assert_same(ours, by_hand)
        plain = samples(source, [CROP])
        assert all(not np.array_equal(mine[0], before[0]) for mine, before in zip(ours, plain, strict=True))

    def test_wrong_ones(self, source):
        with pytest.raises(tgl.ConfigError, match=r"from_albumentations\.compose"):
            ops.from_albumentations(A.HorizontalFlip)
        with pytest.raises(tgl.ConfigError, match="one label field"):
            ops.from_albumentations(compose(format="coco"))
        with pytest.raises(tgl.ConfigError, match=r"'xywh', which albumentations\.Compose takes"):
            samples(source, [CROP, ops.from_albumentations(compose(format="coco", label_fields=["classes"]))])


class TestKerasLayer:
    def test_pictures_and_masks(self, source, keras):
        layer, other = (keras.layers.RandomRotation(0.2, fill_mode="nearest") for _ in range(2))
        ours = samples(source, [CROP, ops.from_keras_layer(other, workers=3)])
        by_hand = []
        for index, (image, mask, boxes, labels) in enumerate(samples(source, [CROP])):
            layer.generator.state.assign(generator(index).integers(2**31, size=2))
            data = {"images": image[None].astype(np.float32), "segmentation_masks": mask[None, ..., None]}
            done = {key: np.asarray(value)[0] for key, value in layer(data, training=True).items()}
            turned = np.rint(done["images"].clip(0, 255)), done["segmentation_masks"][..., 0]
            by_hand.append((*turned, boxes, labels))
        assert_same(ours, by_hand)

    def test_whole_batches(self, source, keras):
        layer, other = (keras.layers.RandomRotation(0.2, fill_mode="nearest") for _ in range(2))
        options = {"batch_size": 5, "seed": SEED, "dtype": "uint8"}
        with (
            tgl.ImageLoader(source, [CROP, ops.from_keras_layer(other, batched=True)], **options) as ours,
            tgl.ImageLoader(source, [CROP], **options) as plain,
        ):
            for number, ((images, targets), (before, old)) in enumerate(zip(ours, plain, strict=True)):
                layer.generator.state.assign(generator(number).integers(2**31, size=2))
                data = {"images": before.astype(np.float32), "segmentation_masks": old["segmentation_masks"]}
                done = {key: np.asarray(value) for key, value in layer(data, training=True).items()}
                np.testing.assert_array_equal(images, np.rint(done["images"].clip(0, 255)))
                np.testing.assert_array_equal(targets["segmentation_masks"], done["segmentation_masks"])
                np.testing.assert_array_equal(targets["labels"], old["labels"])

    def test_wrong_ones(self):
        with pytest.raises(tgl.ConfigError, match=r"from_keras_layer\.layer"):
            ops.from_keras_layer(len)


class FakeTensor(np.ndarray):
    """What the adapter needs of a tensor."""

    def permute(self, *axes):
        return self.transpose(axes)

    def numpy(self):
        return np.asarray(self)


class FakeTorch(ModuleType):
    """What the adapter needs of torch and torchvision: a stand-in, since they are too large for a test."""

    def __init__(self):
        super().__init__("torch")
        self.seeds = [None]
        self.random = SimpleNamespace(fork_rng=self.fork_rng)

    def fork_rng(self, devices):
        torch = self
        assert devices == []

        class Fork:
            def __enter__(self):
                self.before = list(torch.seeds)

            def __exit__(self, *about):
                torch.seeds = self.before

        return Fork()

    def manual_seed(self, seed):
        self.seeds.append(seed)

    def from_numpy(self, array):
        return array.view(FakeTensor)

    def BoundingBoxes(self, boxes, format, canvas_size):
        assert (format, canvas_size) == ("XYXY", (HEIGHT, WIDTH))
        return boxes.view(FakeTensor)


def test_torchvision(source, monkeypatch):
    torch = FakeTorch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    tensors = SimpleNamespace(Image=lambda image: image, Mask=lambda mask: mask, BoundingBoxes=torch.BoundingBoxes)
    monkeypatch.setitem(sys.modules, "torchvision", SimpleNamespace(tv_tensors=tensors))

    def mirror(sample):
        """Mirror half of the samples, channels first, by torch's seed."""
        assert sample["image"].shape == (3, HEIGHT, WIDTH)
        if torch.seeds[-1] % 2:
            return sample
        boxes = sample["boxes"].copy()
        boxes[:, [0, 2]] = WIDTH - boxes[:, [2, 0]]
        flipped = {key: sample[key][..., ::-1] for key in ("image", "mask")}
        return {**flipped, "boxes": boxes[::-1], "labels": sample["labels"][::-1]}

    ours = samples(source, [CROP, ops.from_torchvision(mirror, executor="thread")])
    by_hand = []
    for index, (image, mask, boxes, labels) in enumerate(samples(source, [CROP])):
        if generator(index).integers(2**63) % 2:
            by_hand.append((image, mask, boxes, labels))
        else:
            moved = boxes[::-1].copy()
            moved[:, [0, 2]] = WIDTH - moved[:, [2, 0]]
            by_hand.append((image[:, ::-1], mask[:, ::-1], moved, labels[::-1]))
    assert_same(ours, by_hand)
    assert torch.seeds == [None]
    with pytest.raises(tgl.ConfigError, match=r"from_torchvision\.transform=3"):
        ops.from_torchvision(3)
