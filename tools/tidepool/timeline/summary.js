"use strict";
// What stands above the timeline: what is wrong, how much there is, and where to look first.

class Summary {
  constructor(app) {
    this.app = app;
    this.showProblems();
    this.showTiles();
    this.showLists();
    document.getElementById("legend").append(...this.legend());
  }

  showProblems() {
    const { problems, notices } = this.app.timeline;
    const place = document.getElementById("problems");
    for (const text of problems) place.append(element("p", { className: "problem" }, text));
    for (const text of notices) place.append(element("p", { className: "notice" }, text));
    place.hidden = place.childElementCount === 0;
  }

  tile(name, value, more, { alarm = false, go } = {}) {
    const parts = [element("span", { className: "name" }, name), element("span", { className: "value" }, value)];
    if (more) parts.push(element("span", { className: "more" }, more));
    const className = alarm ? "tile alarm" : "tile";
    return go ? element("button", { type: "button", className, onclick: go, title: "Show the next one" }, ...parts)
      : element("div", { className }, ...parts);
  }

  showTiles() {
    const { timeline } = this.app;
    const { facts } = timeline;
    const callbacks = timeline.spans.type.filter((type) => type === SpanType.callback).length;
    const workers = timeline.threads.worker.filter(Boolean).length;
    const began = new Date(Number.parseFloat(facts.began) * 1000);
    const tiles = [
      this.tile("Process", format.basename(facts.process) || "unknown", [facts.number !== "0" && `number ${facts.number}`, facts.system].filter(Boolean).join(", ")),
      this.tile("Duration", format.duration(timeline.length), facts.began && !Number.isNaN(began.getTime()) ? `began ${began.toISOString().slice(0, 19).replace("T", " ")} UTC` : ""),
      this.tile("Records", format.count(timeline.recordCount), facts.lost > 0 ? `${format.count(facts.lost)} before are lost` : "none lost"),
      this.tile("Threads", format.count(timeline.threadCount), `${format.of(workers, "worker")}`),
      this.tile("Callbacks", format.count(callbacks), timeline.waits.length > 0 ? `longest wait ${format.duration(timeline.spans.wait[timeline.waits[0]])}` : ""),
      this.stallTile(),
      ...timeline.markerKinds.map((name, kind) => this.markerTile(name, kind)).reverse(),
    ];
    document.getElementById("tiles").append(...tiles.filter(Boolean));
  }

  stallTile() {
    const { timeline } = this.app;
    const longest = timeline.stalls.end.reduce((most, end, i) => Math.max(most, end - timeline.stalls.begin[i]), 0);
    return this.tile("Stalls", format.count(timeline.stallCount), timeline.stallCount > 0 ? `longest ${format.duration(longest)}` : `none over ${format.duration(timeline.stallThreshold)}`,
      timeline.stallCount > 0 ? { alarm: true, go: () => this.app.nextNotable(1, (each) => each.what === "stall") } : {});
  }

  markerTile(name, kind) {
    const { timeline } = this.app;
    const records = new Set(timeline.markers.record.filter((_, i) => timeline.markers.kind[i] === kind));
    if (records.size === 0) return null;
    const title = { "exception": "Exceptions", "drain owed": "Drains owed", "re-arm suppressed": "Re-arms suppressed" }[name] || name;
    return this.tile(title, format.count(records.size), "", {
      alarm: name === "drain owed",
      go: () => this.app.nextNotable(1, (each) => each.what === "record" && records.has(each.index)),
    });
  }

  // A list whose entries lead to what they name, each with a bar for how much of the first one it is.
  list(title, entries) {
    if (entries.length === 0) return null;
    const most = Math.max(...entries.map((entry) => entry.size), 1);
    return element("section", { className: "list" }, element("h2", null, title), element("ol", null,
      ...entries.map((entry) => element("li", null, element("button", { type: "button", onclick: entry.go, title: entry.title },
        element("span", { className: "swatch", style: { background: entry.colour } }),
        element("span", { className: "what" }, entry.what),
        element("span", { className: "much" }, entry.much),
        element("span", { className: "bar-of", style: { width: `${(100 * entry.size) / most}%`, background: entry.colour } }))))));
  }

  showLists() {
    const { app } = this;
    const { timeline } = app;
    const colour = (object) => Summary.colourOf(timeline.kindOf(object));
    const lists = [
      this.kinds(),
      this.list("Busiest objects", timeline.busiest.map((object) => ({
        what: timeline.labelOfObject(object), much: `${format.duration(timeline.objects.running[object])} in ${format.count(timeline.objects.callbacks[object])}`,
        size: timeline.objects.running[object], colour: colour(object), title: timeline.siteOf(object),
        go: () => app.selectObject(object),
      }))),
      this.list("Longest queue waits", timeline.waits.map((span) => ({
        what: timeline.labelOfSpan(span), much: format.duration(timeline.spans.wait[span]), size: timeline.spans.wait[span],
        colour: colour(timeline.spans.object[span]), title: `at ${format.moment(timeline.spans.begin[span])}`,
        go: () => app.select({ what: "span", index: span }, true),
      }))),
      this.list("Stalls", Array.from({ length: timeline.stallCount }, (_, stall) => ({
        what: `at ${format.duration(timeline.stalls.begin[stall])}: ${timeline.stalls.waiting[stall]} due, ${timeline.stalls.running[stall]} running`,
        much: format.duration(timeline.stalls.end[stall] - timeline.stalls.begin[stall]),
        size: timeline.stalls.end[stall] - timeline.stalls.begin[stall], colour: "var(--stall-flag)", title: "",
        go: () => app.select({ what: "stall", index: stall }, true),
      })).sort((one, other) => other.size - one.size).slice(0, 10)),
    ];
    document.getElementById("lists").append(...lists.filter(Boolean));
  }

  static colourOf(kind) {
    return `var(--${kindNames.includes(kind) ? kind : "other"})`;
  }

  kinds() {
    const { timeline } = this.app;
    const kinds = new Map();
    for (let object = 0; object < timeline.objectCount; object++) {
      const name = timeline.kindOf(object);
      const sum = kinds.get(name) || { objects: 0, callbacks: 0, running: 0 };
      kinds.set(name, sum);
      sum.objects++;
      sum.callbacks += timeline.objects.callbacks[object];
      sum.running += timeline.objects.running[object];
    }
    if (kinds.size === 0) return null;
    const rows = [...kinds].sort(([, one], [, other]) => other.running - one.running || other.objects - one.objects);
    return element("section", { className: "list" }, element("h2", null, "Objects"), element("table", null,
      element("thead", null, element("tr", null, ...["kind", "objects", "callbacks", "time"].map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", null, ...rows.map(([name, sum]) => element("tr", null,
        element("th", { scope: "row" }, element("span", { className: "swatch", style: { background: Summary.colourOf(name) } }), name),
        element("td", null, format.count(sum.objects)),
        element("td", null, sum.callbacks ? format.count(sum.callbacks) : "–"),
        element("td", null, sum.callbacks ? format.duration(sum.running) : "–"))))));
  }

  legend() {
    const key = (colour, text, className = "swatch") =>
      element("span", { className: "key" }, element("span", { className, style: { background: colour } }), text);
    return [
      ...kindNames.map((name) => key(`var(--${name})`, name)),
      key("var(--drain)", "drain", "swatch hatched"),
      key("var(--call)", "call"),
      element("span", { className: "key wait-key" }, "waited",
        ...waitSteps.map((step) => element("span", { className: "key" }, element("span", { className: "swatch", style: { background: `var(--${step.name})` } }), step.says))),
      key("var(--stall-flag)", "stall"),
      element("span", { className: "key mark exception" }, "▲ exception"),
      element("span", { className: "key mark owed" }, "◆ drain owed"),
      element("span", { className: "key mark suppressed" }, "● re-arm suppressed"),
    ];
  }
}
