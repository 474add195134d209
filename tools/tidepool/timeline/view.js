"use strict";
// Which stretch of time is shown on how many pixels.

class View {
  static shortest = 200;  // nanoseconds; less tells nobody anything

  constructor(length) {
    this.whole = Math.max(length, 1000);
    this.width = 1;
    this.fit();
  }

  // How far one can look beyond the beginning and the end.
  static margin(length) {
    return length * 0.01;
  }

  get length() {
    return this.end - this.begin;
  }

  get scale() {
    return this.width / this.length;
  }

  x(time) {
    return (time - this.begin) * this.scale;
  }

  time(x) {
    return this.begin + x / this.scale;
  }

  fit() {
    this.begin = -View.margin(this.whole);
    this.end = this.whole + View.margin(this.whole);
  }

  possible(length) {
    return Math.min(Math.max(length, View.shortest), this.whole + 2 * View.margin(this.whole));
  }

  // Shows from begin to end, as far as the limits allow.
  show(begin, end) {
    const length = this.possible(end - begin);
    const middle = (begin + end) / 2;
    const margin = View.margin(Math.min(length, this.whole));
    this.begin = Math.min(Math.max(middle - length / 2, -margin), this.whole + margin - length);
    this.end = this.begin + length;
  }

  // Makes everything larger by the factor; the moment at x stays where it is.
  zoom(factor, x = this.width / 2) {
    const length = this.possible(this.length / factor);
    const begin = this.time(x) - (x / this.width) * length;
    this.show(begin, begin + length);
  }

  pan(pixels) {
    const time = pixels / this.scale;
    this.show(this.begin + time, this.end + time);
  }

  // Brings a stretch into view with room around it; leaves the scale when it can be seen at it.
  reveal(begin, end) {
    const length = end - begin;
    const small = length * this.scale < 6;
    if (small || length > this.length * 0.8) {
      const room = small ? Math.max(length * 20, View.shortest * 4) : length * 0.3;
      this.show(begin - room, end + room);
    } else if (begin < this.begin + this.length * 0.05 || end > this.end - this.length * 0.05) {
      const middle = (begin + end) / 2;
      this.show(middle - this.length / 2, middle + this.length / 2);
    }
  }

  zoomTo(begin, end) {
    const room = Math.max((end - begin) * 0.25, View.shortest);
    this.show(begin - room, end + room);
  }
}
