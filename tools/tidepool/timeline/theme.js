"use strict";
// The colours, which the style sheet has, for light and for dark.

const kindNames = ["work", "one-off", "timer", "periodic_timer", "wait", "io"];

// How long a callback waited: the shortest wait of each colour.
const waitSteps = [
  { from: 0, name: "wait-0", says: "under 1 ms" },
  { from: 1e6, name: "wait-1", says: "1 ms" },
  { from: 1e7, name: "wait-2", says: "10 ms" },
  { from: 1e8, name: "wait-3", says: "100 ms and more" },
];

class Theme {
  constructor(changed) {
    this.read();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.read(); changed(); });
  }

  read() {
    const style = getComputedStyle(document.documentElement);
    this.colours = new Map();
    this.colour = (name) => {
      let value = this.colours.get(name);
      if (value === undefined) {
        value = style.getPropertyValue(`--${name}`).trim();
        this.colours.set(name, value);
      }
      return value;
    };
    this.hatching = undefined;
  }

  kind(name) {
    return this.colour(kindNames.includes(name) ? name : "other");
  }

  wait(nanoseconds) {
    let step = waitSteps[0];
    for (const each of waitSteps) if (nanoseconds >= each.from) step = each;
    return this.colour(step.name);
  }

  // Stripes over a drain.
  hatch(context) {
    if (!this.hatching) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 6;
      const pen = tile.getContext("2d");
      pen.strokeStyle = this.colour("hatch");
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.moveTo(-1, 7);
      pen.lineTo(7, -1);
      pen.moveTo(-4, 4);
      pen.lineTo(4, -4);
      pen.moveTo(2, 10);
      pen.lineTo(10, 2);
      pen.stroke();
      this.hatching = context.createPattern(tile, "repeat");
    }
    return this.hatching;
  }
}
