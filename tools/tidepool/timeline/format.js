"use strict";
// Numbers and places as people read them, and elements made of text alone.

const format = {
  count(number) {
    return number.toLocaleString("en-US");
  },

  // "1 callback", "2 callbacks"
  of(number, word) {
    return `${format.count(number)} ${word}${number === 1 ? "" : "s"}`;
  },

  // Nanoseconds, with three digits or a bit more: "1.57 s", "24.3 µs".
  duration(nanoseconds) {
    const size = Math.abs(nanoseconds);
    for (const [unit, length] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
      if (size >= length) {
        const value = nanoseconds / length;
        return `${Number(value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2))} ${unit}`;
      }
    }
    return `${Math.round(nanoseconds)} ns`;
  },

  fixed(number, digits) {
    return number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  },

  // A moment as lists show it, one below the other: "302.711 ms".
  clock(nanoseconds) {
    return `${format.fixed(nanoseconds / 1e6, 3)} ms`;
  },

  // A moment, to the nanosecond: "0.123 456 789 s".
  moment(nanoseconds) {
    const whole = Math.floor(nanoseconds / 1e9);
    const rest = String(Math.round(nanoseconds - whole * 1e9)).padStart(9, "0");
    return `${whole}.${rest.slice(0, 3)} ${rest.slice(3, 6)} ${rest.slice(6)} s`;
  },

  basename(path) {
    return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  },
};

// A path that may be broken after its slashes.
function pathOf(path) {
  return element("span", null, ...path.split(/(?<=[/\\])/).flatMap((part) => [part, document.createElement("wbr")]));
}

// An element. What is given as text stays text, whatever is in it.
function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name.startsWith("aria-") || name === "role") made.setAttribute(name, value);
    else if (name === "style") for (const [property, setting] of Object.entries(value)) made.style.setProperty(property, setting);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}
