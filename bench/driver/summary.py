"""From single runs to medians and ratios."""

import statistics

BASE = "tidepool"
# What a case is about, shown in the table; anything else a run reports is in the JSON only.
SHOWN = ["per_callback", "p50", "p99", "p50_same_core", "p50_other_core", "same_core_share", "early",
         "arm_10k", "arm_100k", "arm_1M", "arm_1M_to_10k", "cancel_10k", "cancel_100k", "cancel_1M", "cancel_1M_to_10k",
         "bytes_per_timer_1M", "create_1k", "create_10k", "create_100k", "close_1k", "close_10k", "close_100k",
         "close_100k_to_1k", "rate", "processor_time", "total"]
MAIN_METRIC = {"D": "p50", "D1": "p50", "F_arm": "arm_1M", "F_late": "p50", "F_beside": "p50", "G_event": "p50", "G_fd": "p50",
               "GROUP": "close_100k", "I": "total"}
# A share, a number of timers, or a ratio already: the ratio of two of them says nothing.
WITHOUT_RATIO = {"same_core_share", "early", "rate", "arm_100k_to_10k", "arm_1M_to_10k", "cancel_100k_to_10k",
                 "cancel_1M_to_10k", "close_10k_to_1k", "close_100k_to_1k"}


def main_metric(case):
    return MAIN_METRIC.get(case, "per_callback")


def mean_shares(runs):
    """The share of the callbacks that each core ran, averaged over the runs."""
    cores = sorted({core for run in runs for core in run["cores"]}, key=int)
    return {core: round(sum(run["cores"].get(core, 0) for run in runs) / len(runs), 3) for core in cores}


def cores_used(row):
    """The number of cores that ran a share of the callbacks worth the name."""
    return sum(share >= 0.05 for share in row["cores"].values())


def rows_of(case, placement, contestant, runs):
    base = {"case": case, "placement": placement, "contestant": contestant}
    bad = [run for run in runs if run["status"] != "ok"]
    if bad:
        nothing = {"unit": "ms" if case == "I" else "ns", "min": None, "median": None, "max": None,
                   "runs": len(runs), "values": [], "operations": None, "threads": None, "unbound_threads": None,
                   "cores": {}}
        return [{**base, "metric": main_metric(case), **nothing, **bad[0]}]
    rows = []
    metrics = {}
    for run in runs:
        for each in run["metrics"]:
            metrics.setdefault((each["metric"], each["unit"]), []).append(each["value"])
    for (metric, unit), values in metrics.items():
        rows.append({**base, "metric": metric, "unit": unit, "min": min(values), "median": statistics.median(values),
                     "max": max(values), "runs": len(values), "values": values,
                     "operations": min(run["operations"] for run in runs),
                     "threads": max(run["threads"] for run in runs),
                     "unbound_threads": max(run["unbound_threads"] for run in runs),
                     "cores": mean_shares(runs), "status": "ok"})
    return rows


def summarise(results):
    """One row for each case, placement, contestant and metric; "ratio" is tidepool's median over the row's."""
    rows = [row for (case, placement, contestant), runs in results.items() if runs
            for row in rows_of(case, placement, contestant, runs)]
    ours = {(row["case"], row["placement"], row["metric"]): row["median"] for row in rows if row["contestant"] == BASE}
    for row in rows:
        own = ours.get((row["case"], row["placement"], row["metric"]))
        comparable = own is not None and row["median"] and row["metric"] not in WITHOUT_RATIO
        row["ratio"] = own / row["median"] if comparable else None
    return rows


def problems(rows):
    """What makes the comparison worth less than it looks, as sentences."""
    found = []
    for row in rows:
        where = f"{row['contestant']} in {row['case']}, {row['placement']}"
        if row["status"] == "failed":
            found.append(f"{where}: {row['error']}")
        elif row["status"] == "timed out" and row["contestant"] == BASE:
            found.append(f"{where}: not finished after {row['limit_seconds']} s")
        elif (row["placement"] == "spread" and row["unbound_threads"]
              and row["metric"] == main_metric(row["case"])):
            found.append(f"{where}: callbacks ran on {row['unbound_threads']} threads that were not bound to a core")
        if row["contestant"] == BASE and row["metric"] == "early" and row["max"]:
            found.append(f"{where}: up to {row['max']:g} timers fired early")
    return found
