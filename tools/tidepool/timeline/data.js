"use strict";
// What the tool found in the capture, in arrays that are quick to search. Nothing is worked out here that the tool's
// model knows; times are counted from the first record.

const Layer = { callback: 0, section: 1, call: 2 };
const SpanType = { callback: 0, drain: 1, close: 2, destroy: 3, rearm: 4, call: 5 };
const SpanFlag = { beginLost: 1, unfinished: 2, cancelling: 4 };

// Lists of numbers, one for each key: those of key k are list(k).
class Grouped {
  constructor(keys, count) {
    this.starts = new Uint32Array(count + 1);
    for (const key of keys) if (key >= 0) this.starts[key + 1]++;
    for (let i = 0; i < count; i++) this.starts[i + 1] += this.starts[i];
    this.items = new Uint32Array(this.starts[count]);
    const next = this.starts.slice();
    keys.forEach((key, item) => { if (key >= 0) this.items[next[key]++] = item; });
  }

  list(key) {
    return this.items.subarray(this.starts[key], this.starts[key + 1]);
  }
}

class Timeline {
  constructor(raw) {
    Object.assign(this, {
      file: raw.file, version: raw.version, facts: raw.facts, problems: raw.problems, notices: raw.notices,
      strings: raw.strings, spanTypes: raw.spanTypes, flowKinds: raw.flowKinds, dueReasons: raw.dueReasons,
      markerKinds: raw.markerKinds, stallThreshold: raw.stallThreshold, busiest: raw.busiest, waits: raw.waits,
    });
    this.origin = raw.begin;
    this.length = raw.end - raw.begin;
    this.threads = raw.threads;
    this.threadCount = raw.threads.number.length;
    this.objects = Timeline.typed(raw.objects, ["running"]);
    this.objectCount = raw.objects.kind.length;
    this.records = Timeline.typed(raw.records, []);
    this.records.time = this.times(raw.records.time);
    this.recordCount = raw.records.kind.length;
    this.spans = Timeline.typed(raw.spans, ["length", "wait"]);
    this.spans.begin = this.times(raw.spans.begin);
    this.spans.end = this.spans.begin.map((begin, i) => begin + this.spans.length[i]);
    this.spanCount = raw.spans.type.length;
    this.flows = Timeline.typed(raw.flows, []);
    this.stalls = Timeline.typed(raw.stalls, []);
    this.stalls.begin = Float64Array.from(raw.stalls.begin, (time) => time - this.origin);
    this.stalls.end = Float64Array.from(raw.stalls.end, (time) => time - this.origin);
    this.stallCount = raw.stalls.begin.length;
    this.markers = Timeline.typed(raw.markers, []);
    this.markerCount = raw.markers.kind.length;

    this.recordsOfObject = new Grouped(this.records.object, this.objectCount);
    this.flowsOfSpan = new Grouped(this.flows.span, this.spanCount);
    this.flowsOfRecord = new Grouped(this.flows.record, this.recordCount);
    this.callbacksOfObject = new Grouped(
      this.spans.object.map((object, i) => (this.spans.type[i] === SpanType.callback ? object : -1)), this.objectCount);
    this.spanOfRecord = new Int32Array(this.recordCount).fill(-1);
    for (let i = 0; i < this.spanCount; i++) {
      for (const record of [this.spans.beginRecord[i], this.spans.endRecord[i]]) {
        if (record >= 0 && this.spanOfRecord[record] < 0) this.spanOfRecord[record] = i;
      }
    }
    this.findLanes();
    this.findRibbons();
    this.notable = this.findNotable();
  }

  // Numbers that need more than 31 bits are named.
  static typed(columns, long) {
    return Object.fromEntries(Object.entries(columns).map(
      ([name, values]) => [name, long.includes(name) ? Float64Array.from(values) : Int32Array.from(values)]));
  }

  times(steps) {
    let time = -this.origin;
    return Float64Array.from(steps, (step) => (time += step));
  }

  layerOf(span) {
    const type = this.spans.type[span];
    return type === SpanType.callback ? Layer.callback : type === SpanType.call ? Layer.call : Layer.section;
  }

  // The spans of a lane do not overlap, so they are in the order of their ends as well.
  findLanes() {
    const lanes = Array.from({ length: this.threadCount }, () => [[], [], []]);
    for (let i = 0; i < this.spanCount; i++) {
      const layer = lanes[this.spans.thread[i]][this.layerOf(i)];
      const depth = this.spans.depth[i];
      while (layer.length <= depth) layer.push([]);
      layer[depth].push(i);
    }
    this.lanes = lanes.map((layers) => layers.map((depths) => depths.map((list) => Uint32Array.from(list))));
  }

  // For each thread the callbacks that waited, and from where the ribbon of each is drawn.
  findRibbons() {
    this.ribbons = this.lanes.map((layers) => {
      const waited = [], from = [];
      let before = 0;
      for (const span of layers[Layer.callback][0] || []) {
        const wait = this.spans.wait[span];
        if (wait > 0) {
          waited.push(span);
          from.push(Math.max(this.spans.begin[span] - wait, before));
        }
        before = this.spans.begin[span];
      }
      return { spans: Uint32Array.from(waited), from: Float64Array.from(from) };
    });
  }

  // Stalls and markers in the order of time: what one looks at next.
  findNotable() {
    const all = [];
    for (let i = 0; i < this.stallCount; i++) all.push({ what: "stall", index: i, time: this.stalls.begin[i] });
    for (const record of this.markers.record) all.push({ what: "record", index: record, time: this.records.time[record] });
    return all.sort((one, other) => one.time - other.time);
  }

  string(number) {
    return this.strings[number] || "";
  }

  kindOf(object) {
    return object < 0 ? "" : this.string(this.objects.kind[object]);
  }

  siteOf(object) {
    return object < 0 ? "" : this.string(this.objects.site[object]);
  }

  labelOfObject(object) {
    const site = this.siteOf(object);
    return site ? `${this.kindOf(object)} ${format.basename(site)}` : this.kindOf(object);
  }

  labelOfSpan(span) {
    const type = this.spans.type[span];
    if (type === SpanType.call) return this.string(this.spans.name[span]);
    const site = format.basename(this.string(this.spans.site[span]));
    const label = `${this.kindOf(this.spans.object[span])}${site ? " " + site : ""}`;
    if (type === SpanType.callback) return label;
    const cancelling = this.spans.flags[span] & SpanFlag.cancelling ? " (cancel)" : "";
    return `${this.spanTypes[type]}${cancelling} ${label}`;
  }

  labelOfRecord(record) {
    return `${this.string(this.records.kind[record])} ${this.string(this.records.action[record])}`;
  }

  nameOfThread(thread) {
    return this.threads.name[thread] || (this.threads.worker[thread] ? "pool worker" : "thread");
  }
}
