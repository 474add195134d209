"use strict";
// The whole capture in a strip: how many callbacks run, where it stalls, and what part is shown below.

class Overview {
  static height = 40;

  constructor(canvas, app) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.app = app;
    let grabbed = false;
    const look = (event) => {
      const { view, timeline } = app;
      const time = (event.offsetX / this.width) * timeline.length;
      view.show(time - view.length / 2, time + view.length / 2);
      app.redraw();
    };
    canvas.addEventListener("pointerdown", (event) => {
      grabbed = true;
      canvas.setPointerCapture(event.pointerId);
      look(event);
    });
    canvas.addEventListener("pointermove", (event) => grabbed && look(event));
    canvas.addEventListener("pointerup", () => { grabbed = false; });
    canvas.addEventListener("pointercancel", () => { grabbed = false; });
  }

  resize(width) {
    this.width = width;
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(Overview.height * this.ratio);
    this.canvas.style.height = `${Overview.height}px`;
    this.load = this.measure();
  }

  // The time in callbacks in each column of pixels, of all threads together.
  measure() {
    const { timeline } = this.app;
    const columns = new Float64Array(Math.max(this.width, 1));
    const scale = columns.length / Math.max(timeline.length, 1);
    for (let i = 0; i < timeline.spanCount; i++) {
      if (timeline.spans.type[i] !== SpanType.callback) continue;
      const begin = timeline.spans.begin[i] * scale, end = timeline.spans.end[i] * scale;
      const first = Math.min(Math.floor(begin), columns.length - 1), last = Math.min(Math.floor(end), columns.length - 1);
      for (let column = first; column <= last; column++) {
        columns[column] += Math.max(Math.min(end, column + 1) - Math.max(begin, column), 0);
      }
    }
    return columns;
  }

  draw() {
    const { context, app, width } = this;
    const { timeline, view, theme } = app;
    const height = Overview.height;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = theme.colour("ruler");
    context.fillRect(0, 0, width, height);
    const scale = width / Math.max(timeline.length, 1);
    context.fillStyle = theme.colour("load");
    const most = this.load.reduce((one, other) => Math.max(one, other), 1e-9);
    this.load.forEach((load, x) => context.fillRect(x, height - (load / most) * (height - 6), 1, height));
    for (let i = 0; i < timeline.stallCount; i++) {
      context.fillStyle = theme.colour("stall-flag");
      context.globalAlpha = 0.75;
      context.fillRect(timeline.stalls.begin[i] * scale, 0, Math.max((timeline.stalls.end[i] - timeline.stalls.begin[i]) * scale, 2), height);
      context.globalAlpha = 1;
    }
    context.fillStyle = theme.colour("chosen");
    let column = -1;
    for (const { time } of app.search.results) {
      if (Math.floor(time * scale) === column) continue;
      column = Math.floor(time * scale);
      context.fillRect(column, 0, 1, 5);
    }
    const left = Math.max(view.begin * scale, 0), right = Math.min(view.end * scale, width);
    context.fillStyle = theme.colour("shade");
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.strokeStyle = theme.colour("chosen");
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 2), height - 1.5);
  }
}
