"use strict";
// Puts the parts together. `tidepool` is at hand in the browser's console, and for the tests of the page.

class App {
  constructor(raw) {
    this.timeline = new Timeline(raw);
    this.view = new View(this.timeline.length);
    this.layout = new Layout(this.timeline);
    this.theme = new Theme(() => this.redraw());
    this.selection = null;  // {what: "span" | "record" | "stall" | "object", index}
    this.hovered = -1;
    this.matches = null;
    this.range = null;
    this.frames = 0;
    this.tracks = document.getElementById("tracks");
    this.painter = new Painter(document.getElementById("canvas"), this);
    this.overview = new Overview(document.getElementById("overview"), this);
    this.summary = new Summary(this);
    this.details = new Details(this);
    this.search = new Search(this);
    this.input = new Input(this);
    this.showNames();
    document.title = `${this.timeline.file} – tidepool timeline`;
    document.getElementById("title").textContent = this.timeline.file;
    document.getElementById("threshold").textContent = format.duration(this.timeline.stallThreshold);
    if (window.innerHeight < 620 || window.innerWidth < 760) document.getElementById("summary").open = false;
    this.tracks.addEventListener("scroll", () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(this.tracks);
    this.resize();
    this.tracks.focus({ preventScroll: true });
  }

  showNames() {
    const { timeline, layout } = this;
    const pools = [...new Set(timeline.threads.pool.filter((pool) => pool >= 0))];
    document.getElementById("paper").style.height = `${layout.height}px`;
    document.getElementById("labels").append(...layout.tracks.map((track) => {
      const { thread } = track;
      const pool = pools.indexOf(timeline.threads.pool[thread]);
      const worker = timeline.threads.worker[thread];
      const label = element("div", { className: worker ? "label worker" : "label", title: `${timeline.nameOfThread(thread)}, thread ${timeline.threads.number[thread]}` },
        element("span", { className: "thread-name" }, timeline.nameOfThread(thread)),
        element("span", { className: "thread-number" }, timeline.threads.number[thread]),
        element("span", { className: "busy" }, this.busyness(thread)),
        worker && pools.length > 1 && pool >= 0 ? element("span", { className: "pool" }, `pool ${pool + 1}`) : "");
      label.style.top = `${track.top - Metric.gap / 2}px`;
      label.style.height = `${track.bottom - track.top + Metric.gap}px`;
      return label;
    }));
    if (timeline.threadCount === 0) {
      document.getElementById("paper").append(element("p", { className: "nothing" }, "There is nothing to draw: the capture holds no records."));
    }
  }

  busyness(thread) {
    const { lanes, spans, length } = this.timeline;
    const callbacks = lanes[thread][Layer.callback][0] || [];
    const running = callbacks.reduce((sum, span) => sum + spans.length[span], 0);
    if (callbacks.length === 0) return "";
    return `${format.of(callbacks.length, "callback")}, ${Math.round((100 * running) / Math.max(length, 1))} % busy`;
  }

  resize() {
    const labels = document.getElementById("labels").offsetWidth;
    const width = Math.max(this.tracks.clientWidth - labels, 50), height = Math.max(this.tracks.clientHeight, 50);
    this.view.width = width;
    this.painter.resize(width, height);
    this.overview.resize(Math.max(document.getElementById("overview").clientWidth, 1));
    this.draw();
  }

  redraw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.pending);
    this.pending = 0;
    this.painter.draw(this.tracks.scrollTop);
    this.overview.draw();
    this.frames++;
  }

  // ---- moving ---------------------------------------------------------------------------------------

  zoom(factor) {
    const { view } = this;
    const time = this.selection ? this.timeOf(this.selection) : NaN;
    const x = time > view.begin && time < view.end ? view.x(time) : view.width / 2;
    view.zoom(factor, x);
    this.redraw();
  }

  pan(part) {
    this.view.pan(this.view.width * part);
    this.redraw();
  }

  fit() {
    this.view.fit();
    this.redraw();
  }

  zoomToSelection() {
    const stretch = this.selection && this.stretchOf(this.selection);
    if (!stretch) return;
    this.view.zoomTo(...stretch);
    this.redraw();
  }

  // ---- what is selected -----------------------------------------------------------------------------

  timeOf(selection) {
    const stretch = this.stretchOf(selection);
    return stretch ? stretch[0] : this.view.begin;
  }

  // Where something is in time, with the wait of a callback.
  stretchOf({ what, index }) {
    const { spans, records, stalls } = this.timeline;
    switch (what) {
      case "span": return [spans.begin[index], spans.end[index]];
      case "record": return [records.time[index], records.time[index]];
      case "stall": return [stalls.begin[index], stalls.end[index]];
      default: {
        const own = this.timeline.recordsOfObject.list(index);
        return own.length > 0 ? [records.time[own[0]], records.time[own[own.length - 1]]] : null;
      }
    }
  }

  selectedObject() {
    const { selection, timeline } = this;
    if (!selection) return -1;
    switch (selection.what) {
      case "span": return timeline.spans.object[selection.index];
      case "record": return timeline.records.object[selection.index];
      case "object": return selection.index;
      default: return -1;
    }
  }

  select(selection, reveal) {
    this.selection = selection;
    this.details.show(selection);
    document.body.classList.toggle("detailed", Boolean(selection));
    if (selection && reveal) this.reveal(selection);
    document.getElementById("said").textContent = this.describe(selection);
    this.redraw();
  }

  selectObject(object) {
    const callbacks = this.timeline.callbacksOfObject.list(object);
    if (callbacks.length > 0) this.select({ what: "span", index: callbacks[0] }, true);
    else this.select({ what: "object", index: object }, true);
  }

  reveal(selection) {
    const stretch = this.stretchOf(selection);
    if (!stretch) return;
    this.view.reveal(...stretch);
    const { timeline, layout, tracks } = this;
    const thread = selection.what === "span" ? timeline.spans.thread[selection.index]
      : selection.what === "record" ? timeline.records.thread[selection.index] : -1;
    if (thread < 0) return;
    const { top, bottom } = layout.tracks[thread];
    if (top - Metric.ruler < tracks.scrollTop) tracks.scrollTop = top - Metric.ruler - 8;
    else if (bottom > tracks.scrollTop + tracks.clientHeight) tracks.scrollTop = bottom - tracks.clientHeight + 8;
  }

  describe(selection) {
    const { timeline } = this;
    if (!selection) return "";
    switch (selection.what) {
      case "span": {
        const span = selection.index, wait = timeline.spans.wait[span];
        return `${timeline.labelOfSpan(span)} on ${timeline.nameOfThread(timeline.spans.thread[span])}, ${format.duration(timeline.spans.length[span])}` +
          (wait >= 0 ? `, waited ${format.duration(wait)}` : "");
      }
      case "record": return timeline.labelOfRecord(selection.index);
      case "stall": return `stall of ${format.duration(timeline.stalls.end[selection.index] - timeline.stalls.begin[selection.index])}`;
      default: return timeline.labelOfObject(selection.index);
    }
  }

  // What a callback made happen: the flows from the records that its thread made while it ran, and from its re-arm.
  flowsFrom(span) {
    const { timeline } = this;
    const { spans, records } = timeline;
    if (spans.type[span] !== SpanType.callback || spans.beginRecord[span] < 0) return [];
    const found = [];
    const thread = spans.thread[span], object = spans.object[span];
    let record = spans.beginRecord[span] + 1, rearming = false;
    for (; record < timeline.recordCount && found.length < 100; record++) {
      if (records.thread[record] !== thread) continue;
      const action = timeline.string(records.action[record]);
      if (records.time[record] > spans.end[span]) {
        const own = records.object[record] === object;
        if (own && action === "rearm-enter") rearming = true;
        if (!rearming || (own && action === "rearm-leave")) break;
      }
      found.push(...timeline.flowsOfRecord.list(record));
    }
    return found;
  }

  // ---- from one thing to the next -------------------------------------------------------------------

  neighbour(direction) {
    const { timeline, layout, view } = this;
    if (!this.selection || this.selection.what !== "span") {
      const first = timeline.spans.begin.findIndex((begin, i) => begin >= view.begin && timeline.spans.type[i] === SpanType.callback);
      if (first >= 0) this.select({ what: "span", index: first }, true);
      return;
    }
    const { spans } = layout.laneOf(timeline, this.selection.index);
    const next = spans[spans.indexOf(this.selection.index) + direction];
    if (next !== undefined) this.select({ what: "span", index: next }, true);
  }

  sibling(direction) {
    const object = this.selectedObject();
    if (object < 0) return;
    const callbacks = this.timeline.callbacksOfObject.list(object);
    const time = this.timeOf(this.selection);
    const at = this.selection.what === "span" ? callbacks.indexOf(this.selection.index) : -1;
    const next = at >= 0 ? callbacks[at + direction]
      : direction > 0 ? callbacks.find((span) => this.timeline.spans.begin[span] > time)
        : callbacks.findLast((span) => this.timeline.spans.begin[span] < time);
    if (next !== undefined) this.select({ what: "span", index: next }, true);
  }

  nextNotable(direction, wanted = () => true) {
    const all = this.timeline.notable.filter(wanted);
    if (all.length === 0) return;
    const { selection } = this;
    const at = selection ? all.findIndex((each) => each.what === selection.what && each.index === selection.index) : -1;
    const time = selection ? this.timeOf(selection) : -1;
    let next = at + direction;
    if (at < 0) next = direction > 0 ? all.findIndex((each) => each.time >= time) : all.findLastIndex((each) => each.time < time);
    const { what, index } = all[(next + all.length) % all.length];
    this.select({ what, index }, true);
  }

  // ---- what is under the pointer --------------------------------------------------------------------

  spanAt(x, y) {
    const { layout, timeline, view } = this;
    const track = layout.trackAt(y);
    const lane = track && track.lanes.find((each) => y >= each.y - 1 && y < each.y + each.height + 1);
    if (!lane) return -1;
    const { begin, end } = timeline.spans;
    const slack = 3 / view.scale, time = view.time(x);
    let best = -1, nearest = slack;
    for (let i = firstEndingAfter(lane.spans, end, time - slack); i < lane.spans.length && begin[lane.spans[i]] <= time + slack; i++) {
      const span = lane.spans[i];
      const distance = Math.max(begin[span] - time, time - end[span], 0);
      if (distance === 0) return span;
      if (distance < nearest) {
        nearest = distance;
        best = span;
      }
    }
    return best;
  }

  markerAt(x, y) {
    const { layout, timeline, view } = this;
    const track = layout.trackAt(y);
    if (!track || y > track.marker + Metric.marker) return -1;
    return timeline.markers.record.find((record) => timeline.records.thread[record] === track.thread &&
      Math.abs(view.x(timeline.records.time[record]) - x) < 7) ?? -1;
  }

  thingAt(x, y) {
    const marker = this.markerAt(x, y);
    if (marker >= 0) return { what: "record", index: marker };
    const span = this.spanAt(x, y);
    if (span >= 0) return { what: "span", index: span };
    const { timeline, view } = this;
    const stall = timeline.stalls.begin.findIndex((begin, i) => x >= view.x(begin) - 2 && x <= Math.max(view.x(timeline.stalls.end[i]), view.x(begin) + 2) + 1);
    return stall >= 0 ? { what: "stall", index: stall } : null;
  }
}

window.tidepool = new App(JSON.parse(document.getElementById("capture").textContent));
document.documentElement.dataset.ready = "yes";
