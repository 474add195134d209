"""The table of ratios."""

from .measure import GROUP_CASES, IO_CASES, SOURCE_CASES, SUBMISSION_CASES
from .summary import BASE, SHOWN, WITHOUT_RATIO, cores_used

UNIT_STEPS = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)]


def quantity(value, unit):
    """A value with three significant digits and the unit that suits it."""
    if unit == "of 1":
        return f"{100 * value:.0f} %"
    if unit == "times":
        return f"x {value:.2f}"
    if unit not in dict(UNIT_STEPS):
        return f"{value:.0f} {unit}"
    nanoseconds = value * dict(UNIT_STEPS)[unit]
    name, step = [each for each in UNIT_STEPS if each[1] <= max(nanoseconds, 1.0)][-1]
    scaled = nanoseconds / step
    return f"{scaled:.{2 if scaled < 9.995 else 1 if scaled < 99.95 else 0}f} {name}"


def proportion(ratio):
    return f"{ratio:.{1 if ratio >= 10 else 2 if ratio >= 0.1 else 3}f}"


def cell(row, most_operations):
    if row is None:
        return "-"
    if row["status"] == "timed out":
        return f"none in {row['limit_seconds']} s"
    if row["status"] == "failed":
        return "failed"
    text = quantity(row["median"], row["unit"])
    if row["metric"] in WITHOUT_RATIO:
        return text
    if row["operations"] < most_operations:
        text = "~" + text
    if row["cores"]:
        text += f" @{cores_used(row)}"
    return text if row["contestant"] == BASE or row["ratio"] is None else f"{proportion(row['ratio'])}  {text}"


def best_peer(rows):
    measured = [row for row in rows if row["contestant"] != BASE and row["ratio"] is not None]
    if not measured:
        return "-"
    best = min(measured, key=lambda row: row["median"])
    return f"{proportion(best['ratio'])}  {best['contestant']}"


def lines_of(rows, contestants):
    """The lines of one table, as lists of its cells; the first is its head."""
    shown = [name for name in contestants if any(row["contestant"] == name for row in rows)]
    yield ["case", "placement", "metric", *shown, "fastest peer"]
    groups = {}
    for row in rows:
        groups.setdefault((row["case"], row["placement"]), []).append(row)
    for (case, placement), group in groups.items():
        for metric in SHOWN:
            same = {row["contestant"]: row for row in group if row["metric"] == metric}
            if same:
                most = max((row["operations"] or 0) for row in same.values())
                cells = [cell(same.get(name), most) for name in shown]
                yield [case, placement, metric.replace("_", " "), *cells, best_peer(list(same.values()))]


def aligned(lines):
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = ["  ".join(value.ljust(width) for value, width in zip(line, widths)).rstrip() for line in lines]
    text.insert(1, "-" * max(len(line) for line in text))
    return "\n".join(text)


def table(rows, contestants):
    """The whole table as text: parts for submissions, timers and signals, I/O, and groups, whose contestants differ."""
    parts = [[row for row in rows if row["case"] in part]
             for part in (SUBMISSION_CASES, SOURCE_CASES, IO_CASES, GROUP_CASES)]
    text = "\n\n".join(aligned(list(lines_of(part, contestants))) for part in parts if part)
    return text + """

Each peer: tidepool's median / its median (below 1: tidepool is faster), then its median.
@n: n cores ran at least 5 % of the callbacks each. A pool that sleeps looks cheap on one core.
~: with fewer operations than the others, whose number would take it more than 4 s.
"""
