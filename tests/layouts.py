"""Builds the folders that cases/layouts.json describes: they hold links and names that no checkout would keep."""

import base64
import json
from pathlib import Path

LAYOUTS = {layout["name"]: layout for layout in json.loads((Path(__file__).parent / "cases/layouts.json").read_text())}


def build(name, root):
    """Make the layout below an empty folder; return what is to be done once its files are listed."""
    later = []
    for path, kind, *content in LAYOUTS[name]["entries"]:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        match kind:
            case "file":
                place.write_bytes(base64.b64decode(*content))
            case "dir":
                place.mkdir()
            case "link":
                place.symlink_to(*content)
            case "remove after listing":
                later.append(place.unlink)
            case "file after listing":
                later.append(lambda place=place, content=content: place.write_bytes(base64.b64decode(*content)))
            case _:
                raise ValueError(kind)

    def change():
        for action in later:
            action()

    return change
