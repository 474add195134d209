"use strict";
// The mouse and the keys.

const zoomStep = 1.5;
const clickSlack = 4;  // pixels that the pointer may move within a click

class Input {
  constructor(app) {
    this.app = app;
    this.tracks = document.getElementById("tracks");
    this.canvas = document.getElementById("canvas");
    this.tip = document.getElementById("tip");
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.up(event));
    this.canvas.addEventListener("pointercancel", () => this.letGo());
    this.canvas.addEventListener("pointerleave", () => this.hover(-1));
    this.canvas.addEventListener("dblclick", () => app.zoomToSelection());
    document.addEventListener("keydown", (event) => this.key(event));
    for (const [id, action] of [["zoom-in", () => app.zoom(zoomStep)], ["zoom-out", () => app.zoom(1 / zoomStep)],
      ["fit", () => app.fit()], ["help-button", () => this.help()]]) {
      document.getElementById(id).addEventListener("click", action);
    }
  }

  help() {
    document.getElementById("help").showModal();
  }

  wheel(event) {
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    const across = event.deltaX * lines, down = event.deltaY * lines;
    event.preventDefault();
    if (event.shiftKey || Math.abs(across) > Math.abs(down)) {
      this.app.view.pan(across || down);
    } else if (down !== 0) {
      this.app.view.zoom(Math.exp(-Math.max(Math.min(down, 240), -240) / 300), event.offsetX);
    }
    this.hover(-1);
    this.app.redraw();
  }

  down(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.tracks.focus({ preventScroll: true });
    this.grip = { x: event.offsetX, y: event.clientY, begin: event.offsetX, moved: false, scroll: this.tracks.scrollTop, range: event.shiftKey };
  }

  move(event) {
    const { grip, app } = this;
    if (!grip) return this.hover(app.spanAt(event.offsetX, event.offsetY + this.tracks.scrollTop), event);
    if (!grip.moved && Math.hypot(event.offsetX - grip.begin, event.clientY - grip.y) < clickSlack) return;
    grip.moved = true;
    if (grip.range) {
      app.range = { from: grip.begin, to: event.offsetX };
    } else {
      this.canvas.classList.add("held");
      app.view.pan(grip.x - event.offsetX);
      this.tracks.scrollTop = grip.scroll + grip.y - event.clientY;
    }
    grip.x = event.offsetX;
    this.hover(-1);
    app.redraw();
  }

  up(event) {
    const { grip, app } = this;
    const range = app.range;
    this.letGo();
    if (!grip) return;
    if (range) {
      app.view.show(app.view.time(Math.min(range.from, range.to)), app.view.time(Math.max(range.from, range.to)));
      app.redraw();
    } else if (!grip.moved) {
      app.select(app.thingAt(event.offsetX, event.offsetY + this.tracks.scrollTop), false);
    }
  }

  letGo() {
    this.grip = null;
    this.app.range = null;
    this.canvas.classList.remove("held");
    this.app.redraw();
  }

  hover(span, event) {
    const { app, tip } = this;
    const { timeline } = app;
    if (span !== app.hovered) {
      app.hovered = span;
      app.redraw();
    }
    this.canvas.classList.toggle("over", span >= 0);
    tip.hidden = span < 0;
    if (span < 0) return;
    const wait = timeline.spans.wait[span];
    tip.replaceChildren(element("b", null, timeline.labelOfSpan(span)), element("span", null, format.duration(timeline.spans.length[span]) +
      (wait >= 0 ? `, waited ${format.duration(wait)}` : "")));
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8)}px`;
  }

  key(event) {
    const { app } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, dialog")) return;
    const far = event.shiftKey ? 0.8 : 0.2;
    const actions = {
      w: () => app.zoom(zoomStep), "+": () => app.zoom(zoomStep), "=": () => app.zoom(zoomStep),
      s: () => app.zoom(1 / zoomStep), "-": () => app.zoom(1 / zoomStep), _: () => app.zoom(1 / zoomStep),
      a: () => app.pan(-far), arrowleft: () => app.pan(-far),
      d: () => app.pan(far), arrowright: () => app.pan(far),
      arrowup: () => this.tracks.scrollBy(0, -40), arrowdown: () => this.tracks.scrollBy(0, 40),
      "0": () => app.fit(), f: () => app.zoomToSelection(),
      ",": () => app.neighbour(-1), ".": () => app.neighbour(1),
      o: () => app.sibling(-1), p: () => app.sibling(1),
      n: () => app.nextNotable(-1), m: () => app.nextNotable(1),
      "/": () => app.search.box.focus(), "?": () => this.help(),
      escape: () => app.select(null),
    };
    // Arrows belong to whatever else has the focus, but for the timeline itself and the page.
    if (event.key.startsWith("Arrow") && event.target !== this.tracks && event.target !== document.body) return;
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }
}
