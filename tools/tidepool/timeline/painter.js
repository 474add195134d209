"use strict";
// Draws the visible part of the paper. Spans thinner than a pixel share one, so that the cost of a frame depends on the
// window, not on the capture.

class Painter {
  constructor(canvas, app) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.app = app;
    this.widths = new Map();
  }

  resize(width, height) {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.ratio = ratio;
  }

  draw(scroll) {
    const { context, app } = this;
    const { layout, theme } = app;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, -scroll * this.ratio);
    context.font = "11px " + theme.colour("font");
    context.textBaseline = "middle";
    this.top = scroll;
    this.bottom = scroll + this.height;
    context.fillStyle = theme.colour("paper");
    context.fillRect(0, this.top, this.width, this.height);
    const ticks = this.ticks();
    this.drawTracks(ticks);
    this.drawStalls();
    for (const track of layout.tracks) {
      if (track.bottom < this.top || track.top > this.bottom) continue;
      this.drawRibbon(track);
      for (const lane of track.lanes) this.drawLane(lane);
    }
    this.drawSelection();
    drawArrows(this);
    this.drawMarkers();
    this.drawRuler(ticks);
  }

  ticks() {
    const { view } = this.app;
    const wanted = view.length / Math.max(this.width / 110, 1);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= wanted);
    const times = [];
    for (let i = Math.ceil(view.begin / step); i * step <= view.end; i++) times.push(i * step + 0);  // never -0
    return { step, times };
  }

  drawTracks(ticks) {
    const { context } = this;
    const { layout, theme, view } = this.app;
    layout.tracks.forEach((track, i) => {
      if (i % 2 === 1) {
        context.fillStyle = theme.colour("stripe");
        context.fillRect(0, track.top - Metric.gap / 2, this.width, track.bottom - track.top + Metric.gap);
      }
    });
    context.fillStyle = theme.colour("grid");
    for (const time of ticks.times) context.fillRect(Math.round(view.x(time)), this.top, 1, this.height);
    context.fillStyle = theme.colour("beyond");
    const begin = view.x(0), end = view.x(this.app.timeline.length);
    if (begin > 0) context.fillRect(0, this.top, begin, this.height);
    if (end < this.width) context.fillRect(end, this.top, this.width - end, this.height);
  }

  drawStalls() {
    const { context } = this;
    const { timeline, view, theme, selection } = this.app;
    for (let i = 0; i < timeline.stallCount; i++) {
      const x = view.x(timeline.stalls.begin[i]), end = view.x(timeline.stalls.end[i]);
      if (end < 0 || x > this.width) continue;
      const chosen = selection && selection.what === "stall" && selection.index === i;
      context.fillStyle = theme.colour(chosen ? "stall-chosen" : "stall");
      context.fillRect(x, this.top, Math.max(end - x, 2), this.height);
      context.fillStyle = theme.colour("stall-edge");
      context.fillRect(x, this.top, 1, this.height);
      context.fillRect(Math.max(end - 1, x + 1), this.top, 1, this.height);
    }
  }

  drawRibbon(track) {
    const { context } = this;
    const { timeline, view, theme } = this.app;
    const { spans, from } = timeline.ribbons[track.thread];
    const begins = timeline.spans.begin, waits = timeline.spans.wait;
    let pixel = -1, longest = 0;
    const flush = () => {
      if (pixel >= 0) {
        context.fillStyle = theme.wait(longest);
        context.fillRect(pixel, track.ribbon, 1, Metric.ribbon);
      }
      pixel = -1;
      longest = 0;
    };
    for (let i = firstEndingAfter(spans, begins, view.begin); i < spans.length && from[i] <= view.end; i++) {
      const span = spans[i];
      const x = view.x(from[i]), end = view.x(begins[span]);
      if (end - x >= 1) {
        flush();
        context.fillStyle = theme.wait(waits[span]);
        context.fillRect(x, track.ribbon, end - x, Metric.ribbon);
      } else {
        const at = Math.floor(x);
        if (at !== pixel) flush();
        pixel = at;
        longest = Math.max(longest, waits[span]);
      }
    }
    flush();
  }

  drawLane(lane) {
    const { context } = this;
    const { timeline, view, matches } = this.app;
    const { begin, end } = timeline.spans;
    let pixel = -1;
    for (let i = firstEndingAfter(lane.spans, end, view.begin); i < lane.spans.length; i++) {
      const span = lane.spans[i];
      if (begin[span] > view.end) break;
      const x = view.x(begin[span]);
      const width = view.x(end[span]) - x;
      const dim = matches && !matches[span];
      if (width < 1.5) {
        const at = Math.floor(x);
        if (at === pixel && (!matches || dim)) continue;
        pixel = at;
        context.globalAlpha = dim ? 0.15 : 0.85;
        context.fillStyle = this.colourOf(span);
        context.fillRect(at, lane.y, 1, lane.height);
        continue;
      }
      context.globalAlpha = dim ? 0.2 : 1;
      this.drawSpan(span, x, width, lane);
    }
    context.globalAlpha = 1;
  }

  colourOf(span) {
    const { timeline, theme } = this.app;
    switch (timeline.spans.type[span]) {
      case SpanType.callback: return theme.kind(timeline.kindOf(timeline.spans.object[span]));
      case SpanType.drain: return theme.colour("drain");
      case SpanType.close: return theme.colour("close");
      case SpanType.destroy: return theme.colour("destroy");
      case SpanType.rearm: return theme.colour("rearm");
      default: return theme.colour("call");
    }
  }

  drawSpan(span, x, width, lane) {
    const { context } = this;
    const { timeline, theme } = this.app;
    const left = Math.max(x, -4), right = Math.min(x + width, this.width + 4);
    const gap = right - left > 4 ? 0.5 : 0;  // between one span and the next
    context.fillStyle = this.colourOf(span);
    context.beginPath();
    context.roundRect(left, lane.y, right - left - gap, lane.height, right - left > 8 ? 2.5 : 0);
    context.fill();
    if (timeline.spans.type[span] === SpanType.drain) {
      context.fillStyle = theme.hatch(context);
      context.fill();
    }
    const flags = timeline.spans.flags[span];
    if (flags & SpanFlag.beginLost && x > -4) this.tear(x, lane, 1);
    if (flags & SpanFlag.unfinished && x + width < this.width + 4) this.tear(x + width, lane, -1);
    if (right - left > 26 && lane.height >= 9) {
      context.fillStyle = theme.colour(lane.layer === Layer.callback ? "on-callback" : "on-section");
      this.write(timeline.labelOfSpan(span), Math.max(left, 0) + 4, lane.y + lane.height / 2 + 0.5,
        Math.min(right, this.width) - Math.max(left, 0) - 7, lane.height);
    }
  }

  // A broken edge.
  tear(x, lane, direction) {
    const { context } = this;
    context.fillStyle = this.app.theme.colour("paper");
    context.beginPath();
    const teeth = Math.max(Math.round(lane.height / 5), 2), size = lane.height / teeth;
    for (let i = 0; i < teeth; i++) {
      context.moveTo(x - direction, lane.y + i * size);
      context.lineTo(x + direction * 4, lane.y + (i + 0.5) * size);
      context.lineTo(x - direction, lane.y + (i + 1) * size);
    }
    context.fill();
  }

  // As much of the text as there is room for.
  write(text, x, y, room, height) {
    const { context, widths } = this;
    const small = height < 12;
    context.font = (small ? "9px " : "11px ") + this.app.theme.colour("font");
    const key = small ? "s" + text : text;
    let width = widths.get(key);
    if (width === undefined) widths.set(key, width = context.measureText(text).width);
    if (width > room) {
      const letters = Math.floor(text.length * room / width) - 1;
      if (letters < 3) return;
      text = text.slice(0, letters) + "…";
    }
    context.fillText(text, x, y);
  }

  frame(x, y, width, height, strong) {
    const { context } = this;
    const { theme } = this.app;
    context.strokeStyle = theme.colour("paper");
    context.lineWidth = strong ? 5 : 3;
    context.strokeRect(x - 1, y - 1, width + 2, height + 2);
    context.strokeStyle = theme.colour("chosen");
    context.lineWidth = strong ? 2.5 : 1.2;
    context.strokeRect(x - 1, y - 1, width + 2, height + 2);
  }

  frameSpan(span, strong) {
    const { timeline, view, layout } = this.app;
    const x = view.x(timeline.spans.begin[span]), end = view.x(timeline.spans.end[span]);
    if (end < -8 || x > this.width + 8) return;
    const lane = layout.laneOf(timeline, span);
    const left = Math.max(x, -8), right = Math.min(Math.max(end, x + 3), this.width + 8);
    this.frame(left, lane.y, right - left, lane.height, strong);
  }

  drawSelection() {
    const { app, context } = this;
    const { timeline, view, layout, theme, selection, hovered } = app;
    const object = app.selectedObject();
    if (object >= 0) {
      let pixel = -10;
      for (const span of timeline.callbacksOfObject.list(object)) {
        const x = view.x(timeline.spans.begin[span]);
        if (timeline.spans.end[span] < view.begin || x > this.width || x - pixel < 3) continue;
        pixel = x;
        this.frameSpan(span, false);
      }
    }
    if (hovered >= 0) this.frameSpan(hovered, false);
    if (!selection) return;
    if (selection.what === "span") {
      this.drawLeadIn(selection.index);
      this.frameSpan(selection.index, true);
    } else if (selection.what === "record") {
      const x = view.x(timeline.records.time[selection.index]);
      const y = layout.middleOf(timeline.records.thread[selection.index]);
      context.fillStyle = theme.colour("chosen");
      context.fillRect(Math.round(x), this.top, 1, this.height);
      context.beginPath();
      context.arc(x, y, 5, 0, 7);
      context.fill();
    }
  }

  // The whole wait of the selected callback, which the ribbon shows only in part.
  drawLeadIn(span) {
    const { context } = this;
    const { timeline, view, layout, theme } = this.app;
    const wait = timeline.spans.wait[span];
    if (!(wait > 0)) return;
    const end = view.x(timeline.spans.begin[span]), x = Math.max(view.x(timeline.spans.begin[span] - wait), -8);
    if (end < 0 || x > this.width) return;
    const track = layout.tracks[timeline.spans.thread[span]];
    context.fillStyle = theme.wait(wait);
    context.fillRect(x, track.ribbon - 1, Math.max(end - x, 1), Metric.ribbon + 2);
    context.fillStyle = theme.colour("chosen");
    context.fillRect(x, track.ribbon - 4, 2, Metric.ribbon + 8);
    if (end - x > 90) {
      context.fillStyle = theme.colour("ink");
      this.write(`waited ${format.duration(wait)}`, Math.max(x, 0) + 6, track.ribbon - 8, end - x, 20);
    }
  }

  drawMarkers() {
    const { timeline, view, layout } = this.app;
    const last = new Map();
    for (let i = 0; i < timeline.markerCount; i++) {
      const record = timeline.markers.record[i];
      const x = view.x(timeline.records.time[record]);
      if (x < -8 || x > this.width + 8) continue;
      const thread = timeline.records.thread[record], kind = timeline.markers.kind[i];
      const key = thread * 8 + kind;
      if (x - (last.has(key) ? last.get(key) : -100) < 4) continue;
      last.set(key, x);
      const chosen = this.app.selection && this.app.selection.what === "record" && this.app.selection.index === record;
      this.drawMarker(kind, x, layout.tracks[thread].marker + Metric.marker / 2 - 1, chosen ? 7 : 5.5);
    }
  }

  drawMarker(kind, x, y, size) {
    const { context } = this;
    const { theme } = this.app;
    context.beginPath();
    if (kind === 0) {  // a re-arm suppressed: a disc with a bar
      context.arc(x, y, size - 0.5, 0, 7);
    } else if (kind === 1) {  // a drain owed: a diamond
      context.moveTo(x, y - size - 1);
      context.lineTo(x + size + 1, y);
      context.lineTo(x, y + size + 1);
      context.lineTo(x - size - 1, y);
    } else {  // an exception: a triangle
      context.moveTo(x, y - size);
      context.lineTo(x + size, y + size - 1);
      context.lineTo(x - size, y + size - 1);
    }
    context.closePath();
    context.fillStyle = theme.colour(["suppressed", "owed", "exception"][kind]);
    context.strokeStyle = theme.colour("paper");
    context.lineWidth = 1.5;
    context.fill();
    context.stroke();
    context.fillStyle = theme.colour("paper");
    if (kind === 0) {
      context.fillRect(x - size / 2, y - 1, size, 2);
    } else {
      context.fillRect(x - 0.75, y - size / 2, 1.5, size * 0.7);
      context.fillRect(x - 0.75, y + size * 0.45, 1.5, 1.5);
    }
  }

  drawRuler(ticks) {
    const { context } = this;
    const { view, theme, timeline } = this.app;
    context.fillStyle = theme.colour("ruler");
    context.fillRect(0, this.top, this.width, Metric.ruler);
    context.fillStyle = theme.colour("line");
    context.fillRect(0, this.top + Metric.ruler - 1, this.width, 1);
    context.font = "11px " + theme.colour("font");
    const unit = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]].find(([, length]) => Math.max(view.end, -view.begin) >= 2 * length) || ["ns", 1];
    const digits = Math.max(0, -Math.floor(Math.log10(ticks.step / unit[1]) + 1e-9));
    for (const time of ticks.times) {
      const x = Math.round(view.x(time));
      context.fillStyle = theme.colour("line");
      context.fillRect(x, this.top + Metric.ruler - 7, 1, 6);
      context.fillStyle = theme.colour("faint");
      context.fillText(`${format.fixed(time / unit[1], digits)} ${unit[0]}`, x + 4, this.top + Metric.ruler / 2 - 1);
    }
    for (let i = 0; i < timeline.stallCount; i++) {
      const x = Math.max(view.x(timeline.stalls.begin[i]), 0), end = Math.min(view.x(timeline.stalls.end[i]), this.width);
      if (end < 0 || x > this.width) continue;
      context.fillStyle = theme.colour("stall-flag");
      context.fillRect(x, this.top, Math.max(end - x, 3), end - x > 70 ? Metric.ruler - 1 : 5);
      if (end - x > 70) {
        context.fillStyle = theme.colour("on-stall");
        this.write(`stall ${format.duration(timeline.stalls.end[i] - timeline.stalls.begin[i])}`, x + 5,
          this.top + Metric.ruler / 2 - 1, end - x - 8, 20);
      }
    }
    const range = this.app.range;
    if (range) {
      context.fillStyle = theme.colour("range");
      context.fillRect(Math.min(range.from, range.to), this.top, Math.abs(range.to - range.from), this.height);
    }
  }
}
