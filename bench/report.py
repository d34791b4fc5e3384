"""Turns measured turns into medians, ratios, Markdown tables and a plot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from turns import Turn

OURS = ("tfgoloader as_dataset", "tfgoloader NumPy")
NOT_IDLE = 0.05  # share of the cores


@dataclass(frozen=True)
class Measured:
    """A peer's turns and what it said of itself."""

    turns: Sequence[Turn]
    peak_bytes: int
    versions: Mapping[str, str]
    sample: Mapping[str, Any]

    def summary(self, cores: int) -> dict[str, Any]:
        """The medians over the turns."""
        turns = self.turns
        capacity = [(turn.cpu_seconds + turn.other_seconds) / (turn.seconds * cores) for turn in turns]
        return {
            "images_per_second": round(median(turn.images_per_second for turn in turns), 1),
            "cpu_seconds_per_1000_images": round(median(1000 / turn.images_per_cpu_second for turn in turns), 3),
            "busy_share_of_cores": round(median(turn.cpu_seconds / (turn.seconds * cores) for turn in turns), 3),
            "busy_share_with_other_processes": round(median(capacity), 3),
            "peak_rss_mb": round(self.peak_bytes / 1e6),
        }


def ratios(ours: Measured, peer: Measured, value: str) -> dict[str, float]:
    """Median, smallest and largest of ours / peer, round by round; value is a property of Turn."""
    pairs = zip(ours.turns, peer.turns, strict=True)
    values = [getattr(mine, value) / getattr(theirs, value) for mine, theirs in pairs]
    return {"median": round(median(values), 3), "min": round(min(values), 3), "max": round(max(values), 3)}


def collect(
    measured: Mapping[str, Measured], not_run: Mapping[str, str], cores: int, ours: Sequence[str] = OURS
) -> dict[str, Any]:
    """All that is known of the peers, as plain values; ratios of those that are ours."""
    compared = {
        mine: {
            name: {
                "images_per_cpu_second": ratios(measured[mine], peer, "images_per_cpu_second"),
                "images_per_second": ratios(measured[mine], peer, "images_per_second"),
            }
            for name, peer in measured.items()
            if name != mine
        }
        for mine in ours
        if mine in measured and len(measured) > 1
    }
    peers = {
        name: {
            **peer.summary(cores),
            "versions": dict(peer.versions),
            "sample": dict(peer.sample),
            "turns": [asdict(turn) for turn in peer.turns],
        }
        for name, peer in measured.items()
    }
    return {"peers": peers, "ratios": compared, "not_run": dict(not_run)}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up as plain text, too."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    align = [str.ljust, *([str.rjust] * (len(head) - 1))]
    rule = [f":{'-' * (width - 1)}" if i == 0 else f"{'-' * (width - 1)}:" for i, width in enumerate(widths)]
    lines = [head, rule, *rows]
    return "\n".join(
        f"| {' | '.join(fit(cell, width) for fit, cell, width in zip(align, line, widths, strict=True))} |"
        for line in lines
    )


def _range(ratio: Mapping[str, float]) -> str:
    return f"{ratio['median']:.2f} ({ratio['min']:.2f} - {ratio['max']:.2f})"


def facts(result: Mapping[str, Any]) -> list[str]:
    """The machine and the work, as one must know them to read the tables."""
    machine, work = result["machine"], result["work"]
    return [
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB; {machine['system']}; "
        f"Python {machine['python']}; {result['date']}.",
        f"{work['pictures']} pictures ({work['source']}), {work['mean_kilobytes']} kB each; batch {work['batch']}; "
        f"{work['workers']} workers; {work['rounds']} rounds of {work['epochs']} epoch(s), peers in turn, "
        "after two epochs to warm up.",
    ]


def tables(result: Mapping[str, Any], goals: Mapping[str, Mapping[str, float]], heading: str = "##") -> list[str]:
    """What collect() found. goals: by one of ours and the peer, the least ratio of images per processor second."""
    head = ["peer", "images/s", "CPU s / 1,000 images", "cores busy", "with others", "peak RSS, MB"]
    rows = [
        [
            name,
            f"{peer['images_per_second']:.0f}",
            f"{peer['cpu_seconds_per_1000_images']:.3f}",
            f"{peer['busy_share_of_cores']:.1%}",
            f"{peer['busy_share_with_other_processes']:.1%}",
            f"{peer['peak_rss_mb']}",
        ]
        for name, peer in result["peers"].items()
    ]
    parts = [table(head, rows)]
    peers = result["peers"].values()
    others = max((peer["busy_share_with_other_processes"] - peer["busy_share_of_cores"] for peer in peers), default=0)
    if others > NOT_IDLE:
        parts.append(
            f"**The machine was not idle**: other processes took up to {others:.0%} of the cores in the turns. "
            "Images per second say little then, and everybody's CPU seconds are larger than they would be."
        )
    for mine, compared in result["ratios"].items():
        wanted = goals.get(mine, {})
        head = ["peer", "images per CPU second", "images per second", "goal"]
        rows = [
            [
                name,
                _range(ratio["images_per_cpu_second"]),
                _range(ratio["images_per_second"]),
                f"{wanted[name]:.2f}" if name in wanted else "",
            ]
            for name, ratio in compared.items()
        ]
        parts += [f"{heading} {mine} / peer", "Median over the rounds (smallest - largest).", table(head, rows)]
    if result["not_run"]:
        lines = [f"- not run: {name}: {why}" for name, why in result["not_run"].items()]
        parts += [f"{heading} Not run", "\n".join(lines)]
    return parts


def versions(result: Mapping[str, Any], heading: str = "##") -> list[str]:
    """The peers' packages."""
    lines = (
        f"- {name}: {', '.join(f'{package} {version}' for package, version in peer['versions'].items())}"
        for name, peer in result["peers"].items()
    )
    return [f"{heading} Versions", "\n".join(lines)]


def plot(result: Mapping[str, Any], path: Path) -> None:
    """Images per second, and processor seconds for 1,000 images: medians, with the range over the rounds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(result["peers"])
    panels: dict[str, Callable[[Mapping[str, float]], float]] = {
        "images per second\n(more is better)": lambda turn: turn["images"] / turn["seconds"],
        "CPU seconds per 1,000 images\n(less is better)": lambda turn: 1000 * turn["cpu_seconds"] / turn["images"],
    }
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 1.6 + 0.42 * len(names)), sharey=True, layout="constrained")
    for axis, (title, value) in zip(axes, panels.items(), strict=True):
        values = [[value(turn) for turn in result["peers"][name]["turns"]] for name in names]
        middle = [median(each) for each in values]
        spread = [
            [m - min(each) for m, each in zip(middle, values, strict=True)],
            [max(each) - m for m, each in zip(middle, values, strict=True)],
        ]
        colours = ["#1f77b4" if name in OURS else "#9aa5b1" for name in names]
        axis.barh(names, middle, xerr=spread, color=colours, error_kw={"ecolor": "#333333", "capsize": 3, "lw": 1})
        for i, (m, each) in enumerate(zip(middle, values, strict=True)):
            label = f"{m:.0f}" if m > 10 else f"{m:.2f}"
            axis.annotate(label, (max(each), i), (5, 0), textcoords="offset points", va="center")
        axis.set_title(title, fontsize=11)
        axis.margins(x=0.14)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].invert_yaxis()
    figure.suptitle(f"JPEG to a 224 x 224 float batch, {result['machine']['cores']} cores")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
