"""Files of other formats than JPEG, made for the tests: PNG chunk by chunk, the rest with Pillow."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pictures
from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
END = b"\x00\x00\x00\x00IEND\xaeB`\x82"
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
# Colour type: bits a sample, samples a pixel.
PNG_KINDS = {0: ((1, 2, 4, 8, 16), 1), 2: ((8, 16), 3), 3: ((1, 2, 4, 8), 1), 4: ((8, 16), 2), 6: ((8, 16), 4)}


def chunk(name: bytes, body: bytes, error: int = 0) -> bytes:
    """Return a PNG chunk; its checksum is wrong by `error`."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body) ^ error)


def header(width: int, height: int, bits: int, color: int, interlace: int = 0) -> bytes:
    """Return an IHDR chunk."""
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, interlace))


def noise_png(random: np.random.Generator, size: tuple[int, int], kind: tuple[int, int, int, bool]) -> bytes:
    """Return a PNG of random samples under random filters; the kind is colour type, bits, interlace, transparency."""
    height, width = size
    color, bits, interlace, transparent = kind
    samples = PNG_KINDS[color][1]
    rows = b""
    for x, y, dx, dy in ADAM7 if interlace else [(0, 0, 1, 1)]:
        across, down = max(0, -((x - width) // dx)), max(0, -((y - height) // dy))
        for _ in range(down if across else 0):
            values = random.integers(0, random.choice([4, 256]), (across * bits * samples + 7) // 8, np.uint8)
            rows += bytes([random.integers(0, 5)]) + values.tobytes()
    parts = [header(width, height, bits, color, interlace)]
    if color == 3:
        parts.append(chunk(b"PLTE", random.integers(0, 256, 3 << bits, np.uint8).tobytes()))
    if transparent:
        parts.append(chunk(b"tRNS", {0: bytes(2), 2: bytes(6)}.get(color) or random.bytes(1 << bits)))
    data = zlib.compress(rows, int(random.integers(0, 10)))
    middle = len(data) // 2
    return SIGNATURE + b"".join([*parts, chunk(b"IDAT", data[:middle]), chunk(b"IDAT", data[middle:])]) + END


def png_kinds() -> Iterator[tuple[int, int, int, bool]]:
    """Yield every kind: colour type, bits, interlace, transparency."""
    for color, (depths, _) in PNG_KINDS.items():
        for bits in depths:
            for interlace in (0, 1):
                yield color, bits, interlace, False
                if color < 4:
                    yield color, bits, interlace, True


def odd_pngs() -> dict[str, bytes]:
    """Return PNGs with something wrong or unusual."""
    width, height = 23, 17
    raw = b"".join(b"\x01" + bytes(range(3 * width)) for _ in range(height))
    data = zlib.compress(raw)
    start, body = header(width, height, 8, 2), chunk(b"IDAT", data)
    palette, indexed = chunk(b"PLTE", bytes(range(30))), header(width, height, 8, 3)
    numbers = chunk(
        b"IDAT", zlib.compress(b"".join(b"\0" + bytes(i % 12 for i in range(width)) for _ in range(height)))
    )
    text = chunk(b"tEXt", b"a\0b")
    return {
        name: SIGNATURE + content
        for name, content in {
            "whole": start + body + END,
            "no end": start + body,
            "end of a wrong checksum": start + body + chunk(b"IEND", b"", 1),
            "end cut": start + body + END[:-1],
            "data of a wrong checksum": start + chunk(b"IDAT", data, 1) + END,
            "data cut": start + body[:-9],
            "stream of a wrong checksum": start + chunk(b"IDAT", data[:-1] + bytes([data[-1] ^ 1])) + END,
            "stream without checksum": start + chunk(b"IDAT", data[:-4]) + END,
            "stream cut": start + chunk(b"IDAT", data[:-9]) + END,
            "more rows": start + chunk(b"IDAT", zlib.compress(raw + raw)) + END,
            "fewer rows": start + chunk(b"IDAT", zlib.compress(raw[:-70])) + END,
            "a byte less": start + chunk(b"IDAT", zlib.compress(raw[:-1])) + END,
            "bytes after the stream": start + chunk(b"IDAT", data + b"garbage") + END,
            "bytes after the end": start + body + END + b"garbage",
            "an empty part": start + chunk(b"IDAT", data[:50]) + chunk(b"IDAT", b"") + chunk(b"IDAT", data[50:]) + END,
            "parts apart": start + chunk(b"IDAT", data[:50]) + text + chunk(b"IDAT", data[50:]) + END,
            "data twice": start + body + text + body + END,
            "gamma of a wrong checksum": start + chunk(b"gAMA", struct.pack(">I", 45455), 1) + body + END,
            "unknown chunk": start + chunk(b"abCd", b"x") + body + END,
            "unknown critical chunk": start + chunk(b"ABCD", b"x") + body + END,
            "unknown critical chunk later": start + body + chunk(b"ABCD", b"x") + END,
            "no name of a chunk": start + chunk(b"a\0b1", b"x") + body + END,
            "header of a wrong checksum": start[:-1] + bytes([start[-1] ^ 1]) + body + END,
            "two headers": start + start + body + END,
            "header later": text + start + body + END,
            "no data": start + END,
            "unknown filter": start + chunk(b"IDAT", zlib.compress(b"\x09" + raw[1:])) + END,
            "palette": indexed + palette + numbers + END,
            "palette missing": indexed + numbers + END,
            "palette of 31 bytes": indexed + chunk(b"PLTE", bytes(31)) + numbers + END,
            "palette empty": indexed + chunk(b"PLTE", b"") + numbers + END,
            "palette too long": indexed + chunk(b"PLTE", bytes(257 * 3)) + numbers + END,
            "palette late": indexed + numbers + palette + END,
            "two palettes": indexed + palette + palette + numbers + END,
            "transparency": indexed + palette + chunk(b"tRNS", b"\0\x10\x20") + numbers + END,
            "transparency too long": indexed + palette + chunk(b"tRNS", bytes(99)) + numbers + END,
            "transparency first": indexed + chunk(b"tRNS", b"\0\x10\x20") + palette + numbers + END,
            "transparency late": indexed + palette + numbers + chunk(b"tRNS", b"\0\x10\x20") + END,
            "transparent colour of a byte too few": start + chunk(b"tRNS", bytes(5)) + body + END,
            "palette of RGB": start + chunk(b"PLTE", bytes(31)) + body + END,
            "depth of 3 bits": header(width, height, 3, 0) + body + END,
            "RGB of 4 bits": header(width, height, 4, 2) + body + END,
            "interlace 2": header(width, height, 8, 2, 2) + body + END,
            "no width": header(0, height, 8, 2) + body + END,
        }.items()
    } | {"wrong signature": b"\x89PNG\n\r\x1a\n" + start + body + END}


def encode(picture: Image.Image, name: str, **options: Any) -> bytes:
    """Return the file that Pillow writes."""
    out = io.BytesIO()
    picture.save(out, name, **options)
    return out.getvalue()


def decode(data: bytes, mode: str = "RGB") -> np.ndarray:
    """Return the picture that Pillow reads, with its last axis."""
    with Image.open(io.BytesIO(data)) as picture:
        array = np.asarray(picture.convert(mode))
    return array.reshape(*array.shape[:2], -1)


def translucent(height: int, width: int, seed: int) -> Image.Image:
    """Return a picture whose alpha takes every value."""
    alpha = np.random.default_rng(seed).integers(0, 256, (height, width, 1), np.uint8)
    return Image.fromarray(np.concatenate([pictures.photograph(height, width, seed), alpha], axis=-1))
