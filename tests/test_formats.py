"""Pictures of every format against TensorFlow and Pillow: kinds of files, alpha, gray, 16 bits, orientation, damage."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import encoders
import numpy as np
import pictures
import pytest
from PIL import Image, ImageOps

import tfgoloader as tgl
from tfgoloader import ops

SIZE = 37, 53


@pytest.fixture
def load(tmp_path: Path) -> Any:
    """Decode files given as bytes, all of one size, as stored unless told otherwise."""

    def decode(files: list[bytes], size: tuple[int, int] = SIZE, **options: Any) -> np.ndarray:
        paths = []
        for index, data in enumerate(files):
            paths.append(tmp_path / f"{index:04}")
            paths[-1].write_bytes(data)
        return pictures.load_whole(paths, *size, **{"exif": False, **options})

    return decode


def differing(names: list[Any], images: np.ndarray, expected: list[np.ndarray]) -> list[Any]:
    """Return the names of the pictures that are not as expected."""
    return [name for name, a, b in zip(names, images, expected, strict=True) if not np.array_equal(a, b)]


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("size", [(1, 1), (3, 2), (4, 5), (17, 23), (70, 3)])
def test_every_kind_of_png_equals_tensorflow(
    tf: Any, load: Any, channels: int, dtype: str, size: tuple[int, int]
) -> None:
    random = np.random.default_rng(len(dtype) + channels)
    kinds = list(encoders.png_kinds())
    files = [encoders.noise_png(random, size, kind) for kind in kinds]
    expected = [tf.io.decode_png(data, channels=channels, dtype=dtype).numpy() for data in files]
    if channels == 4:
        for (color, bits, _, transparent), picture in zip(kinds, expected, strict=True):
            if bits < 8 and not transparent:  # TensorFlow 2.21 says 2^bits - 1 where the picture is opaque
                assert color in (0, 3)
                picture[..., 3] = np.iinfo(dtype).max
    assert differing(kinds, load(files, size, channels=channels, dtype=dtype), expected) == []


def test_odd_pngs_are_taken_or_refused_as_tensorflow_does(tf: Any, tmp_path: Path) -> None:
    taken = 0
    for name, data in encoders.odd_pngs().items():
        path = tmp_path / name
        path.write_bytes(data)
        try:
            expected = tf.io.decode_png(data, channels=3).numpy()
        except tf.errors.InvalidArgumentError:
            with pytest.raises(tgl.DecodeError, match="PNG"):
                pictures.load_whole([path], 17, 23)
            continue
        taken += 1
        assert np.array_equal(pictures.load_whole([path], 17, 23)[0], expected), name
    assert 10 < taken < len(encoders.odd_pngs()) - 10


WEBP = [{"quality": 80}, {"quality": 5}, {"lossless": True}, {"lossless": True, "exact": True}, {"alpha_quality": 30}]


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("size", [(1, 1), (2, 3), (37, 53), (64, 64), (130, 97)])
def test_webp_equals_pillow(load: Any, channels: int, size: tuple[int, int]) -> None:
    files = []
    for seed, options in enumerate(WEBP):
        opaque = Image.fromarray(pictures.photograph(*size, seed))
        clear = encoders.translucent(*size, seed)
        for picture in (opaque, clear):
            files.append(encoders.encode(picture, "WEBP", **options))
            others = [picture.transpose(Image.Transpose.ROTATE_180)]
            files.append(encoders.encode(picture, "WEBP", save_all=True, append_images=others, **options))
    expected = [encoders.decode(data, {3: "RGB", 4: "RGBA"}.get(channels, "RGB")) for data in files]
    if channels == 1:
        expected = [np.asarray(Image.fromarray(array).convert("L"))[..., None] for array in expected]
    assert differing(list(range(len(files))), load(files, size, channels=channels), expected) == []


def test_an_animation_s_first_frame_lies_on_its_canvas(load: Any) -> None:
    frame = np.zeros((*SIZE, 4), np.uint8)
    frame[10:20, 30:50] = encoders.translucent(10, 20, 1)
    data = encoders.encode(
        Image.fromarray(frame), "WEBP", save_all=True, append_images=[encoders.translucent(*SIZE, 2)], lossless=True
    )
    assert np.array_equal(load([data], channels=4)[0], encoders.decode(data, "RGBA"))


TIFF = [None, "tiff_lzw", "tiff_adobe_deflate", "tiff_deflate", "packbits", "zstd", "lzma"]


def test_tiff_equals_pillow(load: Any) -> None:
    picture = Image.fromarray(pictures.photograph(*SIZE, 3))
    files = {}
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "RGBX"):
        source = encoders.translucent(*SIZE, 3) if mode in ("LA", "RGBA") else picture
        for compression in [
            *TIFF,
            *(["group3", "group4"] if mode == "1" else []),
            *(["jpeg"] if mode == "RGB" else []),
        ]:
            files[mode, compression] = encoders.encode(source.convert(mode), "TIFF", compression=compression)
    files["predictor"] = encoders.encode(picture, "TIFF", compression="tiff_lzw", tiffinfo={317: 2})
    expected = [encoders.decode(data) for data in files.values()]
    assert differing(list(files), load(list(files.values())), expected) == []


def test_16_bit_tiff_is_kept_whole(load: Any) -> None:
    values = np.random.default_rng(1).integers(0, 65536, SIZE, np.uint16)
    files = [encoders.encode(Image.fromarray(values), "TIFF", compression=compression) for compression in TIFF]
    assert (load(files, dtype="uint16", channels=1)[..., 0] == values).all()
    assert (load(files, channels=1)[..., 0] == values >> 8).all()


def test_bmp_equals_pillow_and_gif_tensorflow(tf: Any, load: Any) -> None:
    picture = Image.fromarray(pictures.photograph(*SIZE, 4))
    bmp = {mode: encoders.encode(picture.convert(mode), "BMP") for mode in ("1", "L", "P", "RGB", "RGBA")}
    assert differing(list(bmp), load(list(bmp.values())), [encoders.decode(data) for data in bmp.values()]) == []
    gif = {}
    for colors in (2, 5, 32, 256):
        few = picture.quantize(colors)
        for interlace in (0, 1):
            gif[colors, interlace] = encoders.encode(few, "GIF", interlace=interlace)
            gif[colors, interlace, "transparent"] = encoders.encode(few, "GIF", interlace=interlace, transparency=1)
        others = [few.transpose(Image.Transpose.ROTATE_180)]
        gif[colors, "animated"] = encoders.encode(few, "GIF", save_all=True, append_images=others)
    expected = [tf.io.decode_image(data, channels=3, expand_animations=False).numpy() for data in gif.values()]
    assert differing(list(gif), load(list(gif.values())), expected) == []


def test_gray_is_tensorflow_s_of_jpeg_and_png_and_pillow_s_of_the_rest(tf: Any, load: Any) -> None:
    picture = Image.fromarray(pictures.photograph(*SIZE, 5))
    jpeg = [
        encoders.encode(picture, "JPEG", **options)
        for options in ({}, {"subsampling": 0}, {"progressive": True}, {"keep_rgb": True}, {"subsampling": 1})
    ]
    jpeg.append(encoders.encode(picture.convert("L"), "JPEG"))
    expected = [tf.io.decode_jpeg(data, channels=1, dct_method="INTEGER_ACCURATE").numpy() for data in jpeg]
    assert differing(list(range(6)), load(jpeg, channels=1), expected) == []
    png = [encoders.encode(picture.convert(mode), "PNG") for mode in ("RGB", "RGBA", "P", "L", "LA", "1")]
    expected = [tf.io.decode_png(data, channels=1).numpy() for data in png]
    assert differing(list(range(6)), load(png, channels=1), expected) == []
    others = [encoders.encode(picture, name) for name in ("BMP", "TIFF", "GIF")]
    assert differing(list(range(3)), load(others, channels=1), [encoders.decode(data, "L") for data in others]) == []


@pytest.mark.parametrize("background", [(0, 0, 0), (255, 255, 255), (10, 200, 90)])
def test_background_shows_through(load: Any, background: tuple[int, int, int]) -> None:
    picture = encoders.translucent(*SIZE, 6)
    files = [encoders.encode(picture, "PNG"), encoders.encode(picture, "TIFF")]
    files.append(encoders.encode(picture, "WEBP", lossless=True, exact=True))
    files.append(encoders.encode(picture.convert("RGB"), "PNG"))  # opaque
    stored = np.asarray(picture).astype(int)
    color, alpha = stored[..., :3], stored[..., 3:]
    blended = np.floor((color * alpha + np.array(background) * (255 - alpha)) / 255 + 0.5).astype(np.uint8)
    expected = [blended, blended, blended, color.astype(np.uint8)]
    assert differing(["PNG", "TIFF", "WebP", "opaque"], load(files, background=background), expected) == []
    assert differing(["PNG", "TIFF", "WebP"], load(files[:3]), [color.astype(np.uint8)] * 3) == []  # dropped


ORIENTED: dict[str, tuple[str, dict[str, Any]]] = {
    "JPEG": ("JPEG", {"quality": 90}),
    "JPEG 4:4:4": ("JPEG", {"quality": 90, "subsampling": 0}),
    "JPEG 4:2:2 progressive": ("JPEG", {"quality": 90, "subsampling": 1, "progressive": True}),
    "PNG": ("PNG", {}),
    "WebP": ("WEBP", {"quality": 80}),
    "WebP lossless": ("WEBP", {"lossless": True}),
    "TIFF": ("TIFF", {}),
}


def oriented(form: str, orientation: int) -> tuple[bytes, np.ndarray]:
    """Return a file, and its pixels turned upright by Pillow."""
    name, options = ORIENTED[form]
    picture = Image.fromarray(pictures.photograph(*SIZE, orientation))
    exif = Image.Exif()
    exif[0x0112] = orientation
    if name == "TIFF":
        data = encoders.encode(picture, name, tiffinfo={0x0112: orientation})
    else:
        data = encoders.encode(picture, name, exif=exif, **options)
        picture = Image.open(io.BytesIO(data)).convert("RGB")
    picture.getexif()[0x0112] = orientation
    return data, np.asarray(ImageOps.exif_transpose(picture))


@pytest.mark.parametrize("form", ORIENTED)
@pytest.mark.parametrize("orientation", range(1, 9))
def test_pictures_and_crops_are_upright(tmp_path: Path, load: Any, form: str, orientation: int) -> None:
    data, upright = oriented(form, orientation)
    height, width = upright.shape[:2]
    assert (height, width) == (SIZE if orientation < 5 else SIZE[::-1])
    assert np.array_equal(load([data], (height, width), exif=True)[0], upright)
    path = tmp_path / "one"
    path.write_bytes(data)
    corners = set()
    source = tgl.sources.Paths([path] * 60)
    with tgl.ImageLoader(source, [ops.RandomCrop(11, 14)], dtype="uint8", seed=orientation) as loader:
        for crop in np.concatenate(list(loader)):
            (corner,) = pictures.find_window(crop, upright)
            corners.add(corner)
    assert len(corners) > 30
    top, left = (height - 11) // 2, (width - 14) // 2
    window = upright[top : top + 11, left : left + 14]
    flipping = [ops.CenterCrop(11, 14), ops.RandomFlip("horizontal")]
    with tgl.ImageLoader(tgl.sources.Paths([path] * 20), flipping, dtype="uint8", seed=1) as loader:
        images = np.concatenate(list(loader))
    plain = sum(np.array_equal(image, window) for image in images)
    flipped = sum(np.array_equal(image, window[:, ::-1]) for image in images)
    assert plain > 0 < flipped
    assert plain + flipped == 20


@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize("orientation", [3, 6])
def test_other_channels_turn_too(load: Any, channels: int, orientation: int) -> None:
    data, upright = oriented("TIFF", orientation)
    expected = np.asarray(Image.fromarray(upright).convert({1: "L", 4: "RGBA"}[channels]))
    image = load([data], upright.shape[:2], exif=True, channels=channels)[0]
    assert np.array_equal(image, expected.reshape(image.shape))


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 0}, {"restart_marker_blocks": 3}])
def test_what_is_missing_of_a_jpeg_is_as_after_an_early_end_marker(tf: Any, load: Any, options: dict[str, Any]) -> None:
    data = encoders.encode(Image.fromarray(pictures.photograph(*SIZE, 7)), "JPEG", **options)
    scan = data.index(b"\xff\xda") + 20
    files, expected = [], []
    for keep in range(scan, len(data) - 2, max(1, (len(data) - scan) // 12)):
        cut = data[:keep].rstrip(b"\xff")
        try:
            expected.append(tf.io.decode_jpeg(cut + b"\xff\xd9", channels=3, dct_method="INTEGER_ACCURATE").numpy())
        except tf.errors.InvalidArgumentError:  # cut within a table
            continue
        files.append(cut)
    assert len(files) > 5
    assert differing(list(range(len(files))), load(files, truncated="accept"), expected) == []
    for cut in files:
        with pytest.raises(tgl.DecodeError, match="truncated"):
            load([cut])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("PNG", {}),
        ("WEBP", {"quality": 80}),
        ("WEBP", {"lossless": True}),
        ("TIFF", {"compression": "tiff_lzw"}),
        ("TIFF", {}),
        ("BMP", {}),
        ("GIF", {}),
    ],
)
@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_cut_files_are_errors(tmp_path: Path, name: str, options: dict[str, Any], part: float) -> None:
    data = encoders.encode(Image.fromarray(pictures.photograph(*SIZE, 8)), name, **options)
    path = tmp_path / "cut"
    path.write_bytes(data[: int(len(data) * part)])
    loader = tgl.ImageLoader(tgl.sources.Paths([path]), [ops.CenterCrop(*SIZE)])
    with loader, pytest.raises(tgl.DecodeError, match="(?i)" + name) as caught:
        next(iter(loader))
    assert caught.value.path == str(path)
