"use strict";
// Finds callbacks, drains and calls by kind, file and line, address, function or a thread's number; records of objects
// that have none of these, and markers. All words must be there.

class Search {
  constructor(app) {
    this.app = app;
    this.box = document.getElementById("query");
    this.output = document.getElementById("found");
    this.results = [];
    this.current = -1;
    this.box.addEventListener("input", () => this.find());
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.shiftKey) {
        event.preventDefault();
        this.go(-1);
      } else if (event.key === "Escape") {
        this.box.value = "";
        this.find();
        document.getElementById("tracks").focus();
      }
    });
    document.getElementById("search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.go(1);
    });
    document.getElementById("previous").addEventListener("click", () => this.go(-1));
    this.say();
  }

  find() {
    const { timeline } = this.app;
    const words = this.box.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.results = [];
    this.current = -1;
    this.app.matches = null;
    if (words.length > 0) {
      const hits = words.map((word) => this.hitsOf(word));
      const matches = new Uint8Array(timeline.spanCount);
      for (let i = 0; i < timeline.spanCount; i++) {
        if (hits.every((hit) => this.spanHas(i, hit))) {
          matches[i] = 1;
          this.results.push({ what: "span", index: i, time: timeline.spans.begin[i] });
        }
      }
      this.findRecords(hits);
      this.results.sort((one, other) => one.time - other.time);
      this.app.matches = matches;
    }
    this.say();
    this.app.redraw();
  }

  // Which of the texts, and which threads, contain the word.
  hitsOf(word) {
    const { timeline } = this.app;
    return {
      strings: Uint8Array.from(timeline.strings, (text) => (text.toLowerCase().includes(word) ? 1 : 0)),
      threads: Uint8Array.from(timeline.threads.number, (number) => (number === word ? 1 : 0)),
      types: timeline.spanTypes.map((name) => name !== "callback" && name !== "call" && name.includes(word)),
    };
  }

  spanHas(span, hit) {
    const { spans, objects, records } = this.app.timeline;
    const object = spans.object[span];
    if (hit.strings[spans.name[span]] || hit.strings[spans.site[span]] || hit.threads[spans.thread[span]] || hit.types[spans.type[span]]) return true;
    if (object >= 0) return Boolean(hit.strings[objects.kind[object]] || hit.strings[objects.address[object]]);
    const record = spans.beginRecord[span] >= 0 ? spans.beginRecord[span] : spans.endRecord[span];
    return Boolean(hit.strings[records.target[record]] || hit.strings[records.kind[record]]);
  }

  findRecords(hits) {
    const { timeline } = this.app;
    const { records } = timeline;
    const marked = new Set(timeline.markers.record);
    for (let i = 0; i < timeline.recordCount; i++) {
      const object = records.object[i];
      const shown = timeline.spanOfRecord[i] >= 0 || (object >= 0 && timeline.objects.callbacks[object] > 0);
      if (shown && !marked.has(i)) continue;
      const has = (hit) => hit.strings[records.kind[i]] || hit.strings[records.action[i]] || hit.strings[records.target[i]] ||
        hit.strings[records.values[i]] || (object >= 0 && hit.strings[timeline.objects.site[object]]);
      if (hits.every(has)) this.results.push({ what: "record", index: i, time: records.time[i] });
    }
  }

  // To the next result (1) or the one before (-1); the first jump is to what is nearest to the view.
  go(direction) {
    const { results, app } = this;
    if (results.length === 0) return;
    if (this.current < 0) {
      const from = app.selection && direction > 0 ? app.timeOf(app.selection) : app.view.begin;
      const first = results.findIndex((each) => each.time >= from);
      this.current = first < 0 ? 0 : first;
      if (direction < 0) this.current = (this.current + results.length - 1) % results.length;
    } else {
      this.current = (this.current + direction + results.length) % results.length;
    }
    const { what, index } = results[this.current];
    app.select({ what, index }, true);
    this.say();
  }

  say() {
    const any = this.results.length > 0;
    document.getElementById("previous").disabled = document.getElementById("next").disabled = !any;
    this.output.textContent = this.box.value.trim() === "" ? ""
      : !any ? "nothing" : this.current < 0 ? format.count(this.results.length) : `${format.count(this.current + 1)} of ${format.count(this.results.length)}`;
    this.box.classList.toggle("without", this.box.value.trim() !== "" && !any);
  }
}
