"""The chart: one panel for each case, a dot for each median, a line from the fastest run to the slowest.

The values span four decades, so the axes are logarithmic; they carry dots and no bars, because the length of a bar
on a logarithmic axis means nothing.
"""

import html
import math

from .measure import CASES
from .summary import BASE, main_metric
from .table import UNIT_STEPS, quantity

PANEL_WIDTH, ROW, NAMES, VALUES = 640, 19, 90, 170
PANEL_TOP, PANEL_BOTTOM, GAP, MARGIN, HEAD = 30, 30, 26, 20, 76
COLOURS = {"free": "#c0612b", "spread": "#1f5f8b"}
# The metrics with a panel each, where it is not the main one alone.
CHARTED = {"D": ["p50", "p99"], "D1": ["p50", "p99"], "F_arm": ["arm_1M", "cancel_1M"], "F_late": ["p50", "p99"],
           "F_beside": ["p50", "p99"], "G_event": ["p50", "p99"], "G_fd": ["p50", "p99"], "ECHO": ["per_callback", "p99"]}
SHIFT = {"free": -3.5, "spread": 3.5}  # so that the marks of one row do not cover each other


def panels(rows):
    """(title, {(contestant, placement): row}) for what the chart shows."""
    for case, what in CASES.items():
        for metric in CHARTED.get(case, [main_metric(case)]):
            shown = {(row["contestant"], row["placement"]): row for row in rows
                     if row["case"] == case and row["metric"] == metric}
            if shown:
                yield f"{case}: {what} ({metric.replace('_', ' ')})", shown


def in_ns(row, which):
    return row[which] * dict(UNIT_STEPS)[row["unit"]]


class Drawing:
    def __init__(self):
        self.parts = []

    def text(self, x, y, content, **attributes):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{self.attributes(attributes)}>{html.escape(content)}</text>')

    def line(self, x1, y1, x2, y2, colour, width=1.0):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
                          f'stroke-width="{width}"/>')

    def dot(self, x, y, colour, note):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" fill="{colour}"><title>{html.escape(note)}'
                          '</title></circle>')

    @staticmethod
    def attributes(given):
        return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in given.items())


def decades(shown):
    """The axis: whole decades around everything the panel shows."""
    values = [in_ns(row, which) for row in shown.values() if row["status"] == "ok" for which in ("min", "max")]
    values = [value for value in values if value > 0] or [1.0]
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)


def draw_row(drawing, y, name, placement, row, position, left, value_x):
    colour, at = COLOURS[placement], y + SHIFT[placement]
    if row is None:
        return
    if row["status"] != "ok":
        why = f"nothing in {row['limit_seconds']} s" if row["status"] == "timed out" else "failed"
        drawing.text(left + 6, y + 4, why, fill=colour, font_style="italic", font_size=11)
        return
    low, middle, high = (position(in_ns(row, which)) for which in ("min", "median", "max"))
    drawing.line(low, at, high, at, colour, 1.6)
    note = f"{name}, {placement}: median {quantity(row['median'], row['unit'])} of {row['runs']} runs"
    drawing.dot(middle, at, colour, note)
    drawing.text(value_x + (0 if placement == "free" else VALUES / 2), y + 4, quantity(row["median"], row["unit"]),
                 fill=colour, font_size=11)


def draw_panel(drawing, x, y, title, shown, contestants):
    """Draws one panel and returns its height."""
    names = [name for name in contestants if any(key[0] == name for key in shown)]
    left, right = x + NAMES, x + PANEL_WIDTH - VALUES
    top, bottom = y + PANEL_TOP, y + PANEL_TOP + ROW * len(names)
    low, high = decades(shown)

    def position(nanoseconds):
        return left + (right - left) * (math.log10(max(nanoseconds, 10 ** low)) - low) / (high - low)

    drawing.text(x, y + 16, title, font_weight="bold", font_size=13)
    for decade in range(low, high + 1):
        at = position(10 ** decade)
        drawing.line(at, top, at, bottom, "#bbb")
        unit, step = [each for each in UNIT_STEPS if each[1] <= max(10 ** decade, 1)][-1]
        label = f"{10 ** decade / step:g} {unit}"
        drawing.text(at, bottom + 15, label, text_anchor="middle", font_size=11, fill="#555")
        if decade < high:
            for digit in range(2, 10):
                at = position(digit * 10 ** decade)
                drawing.line(at, top, at, bottom, "#eee")
    for index, name in enumerate(names):
        middle = top + ROW * index + ROW / 2
        weight = "bold" if name == BASE else "normal"
        drawing.text(left - 8, middle + 4, name, text_anchor="end", font_size=12, font_weight=weight)
        for placement in COLOURS:
            draw_row(drawing, middle, name, placement, shown.get((name, placement)), position, left, right + 14)
    return PANEL_TOP + ROW * len(names) + PANEL_BOTTOM


def chart(rows, contestants, runs):
    """The chart as the text of an SVG file."""
    drawing = Drawing()
    drawing.text(MARGIN, 30, "tidepool and other thread pools, two workers each", font_size=18, font_weight="bold")
    for x, placement, what in ((MARGIN, "free", "free: left to the scheduler"),
                               (MARGIN + 230, "spread", "spread: workers bound to a core each")):
        drawing.dot(x + 5, 51, COLOURS[placement], what)
        drawing.text(x + 16, 55, what, font_size=12, fill=COLOURS[placement])
    drawing.text(MARGIN + 510, 55, f"Dot: median of up to {runs} interleaved runs; line: fastest to slowest run. "
                 "Logarithmic axes; further left is faster.", font_size=12, fill="#555")
    bottoms = [HEAD, HEAD]
    for title, shown in panels(rows):
        column = 0 if bottoms[0] <= bottoms[1] else 1
        x = MARGIN + column * (PANEL_WIDTH + GAP)
        bottoms[column] += draw_panel(drawing, x, bottoms[column], title, shown, contestants)
    width, height = 2 * (MARGIN + PANEL_WIDTH) + GAP, max(bottoms) + MARGIN
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
            f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(drawing.parts) + "\n</svg>\n")
