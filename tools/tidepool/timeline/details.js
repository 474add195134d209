"use strict";
// All that is known about what is selected, and the whole life of its object.

const recordsAtOnce = 100;
const recordsBefore = 6;

class Details {
  constructor(app) {
    this.app = app;
    this.place = document.getElementById("details");
  }

  show(selection) {
    this.place.hidden = !selection;
    if (!selection) return this.place.replaceChildren();
    const parts = { span: (index) => this.span(index), record: (index) => this.record(index), stall: (index) => this.stall(index),
      object: (index) => this.object(index) }[selection.what](selection.index);
    const close = element("button", { type: "button", className: "close", title: "Close (Esc)", onclick: () => this.app.select(null) }, "×");
    close.setAttribute("aria-label", "Close the details");
    this.place.replaceChildren(close, ...parts.filter(Boolean));
    this.place.scrollTop = 0;
  }

  title(text, kind, under) {
    return element("header", null,
      element("h2", null, element("span", { className: "swatch", style: { background: kind } }), text), element("p", { className: "under" }, under));
  }

  // Pairs of a name and text, an element, or nothing.
  facts(pairs) {
    return element("dl", { className: "facts" }, ...pairs.filter(([, value]) => value)
      .flatMap(([name, value]) => [element("dt", null, name), element("dd", null, value)]));
  }

  link(text, go) {
    return element("button", { type: "button", className: "link", onclick: go }, text);
  }

  thread(thread) {
    const { threads } = this.app.timeline;
    return `${this.app.timeline.nameOfThread(thread)} ${threads.number[thread]}`;
  }

  span(span) {
    const { timeline, theme } = this.app;
    const { spans } = timeline;
    const type = spans.type[span], object = spans.object[span], flags = spans.flags[span];
    const wait = spans.wait[span];
    const record = spans.beginRecord[span] >= 0 ? spans.beginRecord[span] : spans.endRecord[span];
    const colour = type === SpanType.callback ? Summary.colourOf(timeline.kindOf(object)) : `var(--${timeline.spanTypes[type].split(" ")[0].replace("-", "")})`;
    return [
      this.title(timeline.labelOfSpan(span), colour, `${timeline.spanTypes[type]} on ${this.thread(spans.thread[span])}`),
      this.facts([
        ["lasted", flags & SpanFlag.beginLost ? `at least ${format.duration(spans.length[span])}: its beginning is lost`
          : flags & SpanFlag.unfinished ? `at least ${format.duration(spans.length[span])}: its end is not in the capture`
            : format.duration(spans.length[span])],
        ["waited", wait >= 0 && element("span", null, element("span", { className: "swatch", style: { background: theme.wait(wait) } }),
          `${format.duration(wait)} since its ${timeline.dueReasons[spans.reason[span]]}`)],
        ["began", flags & SpanFlag.beginLost ? "" : format.moment(spans.begin[span])],
        ["ended", flags & SpanFlag.unfinished ? "" : format.moment(spans.end[span])],
        ["made at", spans.site[span] && pathOf(timeline.string(spans.site[span]))],
        ["target", type === SpanType.call ? timeline.string(timeline.records.target[record]) : ""],
        ["cancels", flags & SpanFlag.cancelling ? "what has not begun is dropped" : ""],
      ]),
      this.flows("What led to it", timeline.flowsOfSpan.list(span), (flow) => timeline.flows.record[flow]),
      this.flows("What it led to", this.app.flowsFrom(span), null),
      ...this.life(object, record),
    ];
  }

  flows(title, flows, toRecord) {
    const { timeline, app } = { timeline: this.app.timeline, app: this.app };
    if (flows.length === 0) return null;
    return element("section", null, element("h3", null, title), element("ul", { className: "flows" }, ...Array.from(flows, (flow) => {
      const record = timeline.flows.record[flow], span = timeline.flows.span[flow];
      const kind = element("span", { className: `flow-name flow-${timeline.flows.kind[flow]}` }, timeline.flowKinds[timeline.flows.kind[flow]]);
      const between = timeline.spans.begin[span] - timeline.records.time[record];
      return element("li", null, kind, toRecord
        ? this.link(`${format.duration(between)} before, by ${this.thread(timeline.records.thread[record])}`, () => app.select({ what: "record", index: record }, true))
        : this.link(`${timeline.labelOfSpan(span)}, ${format.duration(between)} later`, () => app.select({ what: "span", index: span }, true)));
    })));
  }

  record(record) {
    const { timeline } = this.app;
    const { records } = timeline;
    const span = timeline.spanOfRecord[record];
    return [
      this.title(timeline.labelOfRecord(record), Summary.colourOf(timeline.string(records.kind[record])), `by ${this.thread(records.thread[record])}`),
      this.facts([
        ["at", format.moment(records.time[record])],
        ["target", timeline.string(records.target[record])],
        ...timeline.string(records.values[record]).split(/ (?=[\w-]+=)/).filter(Boolean).map((pair) => {
          const at = pair.indexOf("=");
          return [pair.slice(0, at), pair.slice(at + 1)];
        }),
        ["part of", span >= 0 && this.link(timeline.labelOfSpan(span), () => this.app.select({ what: "span", index: span }, true))],
      ]),
      this.flows("What it led to", timeline.flowsOfRecord.list(record), null),
      ...this.life(records.object[record], record),
    ];
  }

  object(object) {
    const { timeline } = this.app;
    return [this.title(timeline.labelOfObject(object), Summary.colourOf(timeline.kindOf(object)), `object ${timeline.string(timeline.objects.address[object])}`),
      ...this.life(object, -1)];
  }

  stall(stall) {
    const { timeline, app } = { timeline: this.app.timeline, app: this.app };
    const { stalls, spans } = timeline;
    const begin = stalls.begin[stall], end = stalls.end[stall];
    const waited = [];
    for (let i = 0; i < timeline.spanCount; i++) {
      if (spans.wait[i] >= 0 && spans.begin[i] >= end && spans.begin[i] - spans.wait[i] < end) waited.push(i);
    }
    waited.sort((one, other) => spans.wait[other] - spans.wait[one]);
    const shown = waited.slice(0, recordsAtOnce);
    const running = stalls.running[stall];
    return [
      this.title(`Stall of ${format.duration(end - begin)}`, "var(--stall-flag)", "something was due, and no callback began"),
      this.facts([
        ["began", format.moment(begin)],
        ["ended", stalls.unfinished[stall] ? "not before the capture" : format.moment(end)],
        ["due", format.count(stalls.waiting[stall])],
        ["running", running === 0 ? "none: no thread was busy with a callback" : `${format.of(running, "callback")} all the while`],
      ]),
      shown.length > 0 && element("section", null, element("h3", null, "What waited, and began later"), element("ul", { className: "flows" },
        ...shown.map((span) => element("li", null, this.link(`${timeline.labelOfSpan(span)}, ${format.duration(spans.wait[span])}`, () => app.select({ what: "span", index: span }, true)))),
        waited.length > shown.length ? element("li", { className: "under" }, `and ${format.count(waited.length - shown.length)} more`) : "")),
    ];
  }

  life(object, here) {
    const { timeline } = this.app;
    if (object < 0) return [];
    const { objects } = timeline;
    const records = timeline.recordsOfObject.list(object);
    const group = objects.group[object];
    return [
      element("section", null, element("h3", null, `The life of ${timeline.kindOf(object)} ${timeline.string(objects.address[object])}`), this.facts([
        ["made at", timeline.siteOf(object) && pathOf(timeline.siteOf(object))],
        ["member of", group >= 0 && this.link(timeline.labelOfObject(group), () => this.app.selectObject(group))],
        ["callbacks", objects.callbacks[object] > 0 && `${format.count(objects.callbacks[object])}, ${format.duration(objects.running[object])} in all`],
        ["beginning", objects.created[object] ? "" : "not in the capture"],
        ["end", objects.destroyed[object] ? "" : "not in the capture"],
      ]), this.records(records, here)),
    ];
  }

  // The record selected with a few before it and many after; more at the push of a button.
  records(records, here) {
    const at = Math.max(records.indexOf(here), 0);
    let first = Math.max(Math.min(at - recordsBefore, records.length - recordsAtOnce), 0);
    let last = Math.min(first + recordsAtOnce, records.length);
    const rows = (from, to) => Array.from(records.subarray(from, to), (record) => this.row(record, record === here));
    const list = element("ol", { className: "records" }, ...rows(first, last));
    const box = element("div");
    const more = (count, action) => element("button", { type: "button", className: "more", onclick: action }, `${format.of(count, "more record")}`);
    const update = () => box.replaceChildren(...[
      first > 0 && more(Math.min(first, recordsAtOnce), () => {
        const from = Math.max(first - recordsAtOnce, 0);
        list.prepend(...rows(from, first));
        first = from;
        update();
      }),
      list,
      last < records.length && more(Math.min(records.length - last, recordsAtOnce), () => {
        const to = Math.min(last + recordsAtOnce, records.length);
        list.append(...rows(last, to));
        last = to;
        update();
      }),
    ].filter(Boolean));
    update();
    return box;
  }

  row(record, here) {
    const { timeline, app } = { timeline: this.app.timeline, app: this.app };
    const { records } = timeline;
    const values = timeline.string(records.values[record]).replace(/(site=)(.*)/, (_, name, path) => name + format.basename(path));
    const row = element("button", { type: "button", onclick: () => app.select({ what: "record", index: record }, true) },
      element("span", { className: "when" }, format.clock(records.time[record])),
      element("span", { className: "action" }, timeline.string(records.action[record])),
      element("span", { className: "values" }, values));
    if (here) row.setAttribute("aria-current", "true");
    return element("li", null, row);
  }
}
