"""Pictures of a campaign, as SVG that stands in a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from proof.campaign.report.figures import Figures, Times

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 960, 220, 44, 24, 10
COLOURS = {
    "db": "#c0392b", "s": "#2980b9", "w": "#e08e0b", "a": "#7f8c8d",
}  # fmt: skip
WHOSE = {"db": "database", "s": "schedulers", "w": "workers", "a": "API nodes"}


def throughput(figures: Figures) -> str:
    """Runs done a second; a band for each fault, in the colour of what it hit."""
    highest = max((rate for _, rate in figures.done), default=1.0) or 1.0
    parts = [*_bands(figures), *_axes(figures.seconds, highest, "runs done a second")]
    points = " ".join(f"{_x(at, figures.seconds):.1f},{_y(rate, highest):.1f}" for at, rate in figures.done)
    parts.append(f'<polyline points="{points}" fill="none" stroke="#111" stroke-width="1.3"/>')
    x = _x(figures.healed, figures.seconds)
    parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#0a0"/>')
    parts.append(f'<text x="{x + 4:.1f}" y="{TOP + 10}" fill="#0a0">healed</text>')
    return _svg(parts)


def _bands(figures: Figures) -> Iterable[str]:
    rows = {whose: number for number, whose in enumerate(WHOSE)}
    high = (HEIGHT - TOP - BOTTOM) / len(rows)
    for kind, target, at, seconds in figures.bands:
        whose = "db" if target == "db" else target[0]
        x = _x(at, figures.seconds)
        wide = max(1.5, _x(at + seconds, figures.seconds) - x)
        y = TOP + rows[whose] * high
        yield (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{COLOURS[whose]}"'
            f' fill-opacity="0.28"><title>{escape(kind)} of {escape(target)} at {at:.0f} s</title></rect>'
        )


def distribution(times: Times, limit: float, what: str) -> str:
    """Each time as a step: how many were at most so long."""
    longest = max([*times.seconds, limit]) * 1.05
    parts = list(_axes(longest, 1.0, what))
    steps: list[str] = [f"{_x(0, longest):.1f},{_y(0, 1):.1f}"]
    for number, seconds in enumerate(times.seconds):
        steps += [
            f"{_x(seconds, longest):.1f},{_y(share / len(times.seconds), 1):.1f}"
            for share in (number, number + 1)
        ]
    parts.append(f'<polyline points="{" ".join(steps)}" fill="none" stroke="#2980b9" stroke-width="1.5"/>')
    x = _x(limit, longest)
    parts.append(
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#c0392b"'
        ' stroke-dasharray="4 3"/>'
    )
    return _svg(parts)


def _axes(seconds: float, highest: float, what: str) -> Iterable[str]:
    base = HEIGHT - BOTTOM
    yield f'<line x1="{LEFT}" x2="{WIDTH}" y1="{base}" y2="{base}" stroke="#888"/>'
    yield f'<text x="{LEFT}" y="{TOP + 2}" font-weight="bold">{escape(what)}</text>'
    for fifth in range(6):
        at = seconds * fifth / 5
        yield f'<text x="{_x(at, seconds):.1f}" y="{HEIGHT - 8}" text-anchor="middle">{at:.0f} s</text>'
    for part in (0.5, 1.0):
        y, value = _y(highest * part, highest) + 4, highest * part
        yield f'<text x="{LEFT - 6}" y="{y:.1f}" text-anchor="end">{value:g}</text>'


def _x(at: float, seconds: float) -> float:
    return LEFT + (WIDTH - LEFT - 20) * at / (seconds or 1)


def _y(value: float, highest: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / highest


def _svg(parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" role="img" font-family="sans-serif"'
        f' font-size="11" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )
