"use strict";
// Where the tracks and their lanes stand, from the top of the paper.

const Metric = {
  ruler: 24, gap: 9, marker: 13, ribbon: 5, callback: 20, section: 13, call: 9, space: 2, least: 26,
};

class Layout {
  constructor(timeline) {
    const marked = new Set(Array.from(timeline.markers.record, (record) => timeline.records.thread[record]));
    let y = Metric.ruler + 4;
    this.tracks = timeline.lanes.map((layers, thread) => {
      const track = { thread, top: y, marker: y, lanes: [] };
      if (marked.has(thread)) y += Metric.marker;
      track.ribbon = y;
      if (timeline.ribbons[thread].spans.length > 0) y += Metric.ribbon + 1;
      for (const [layer, height] of [[0, Metric.callback], [1, Metric.section], [2, Metric.call]]) {
        layers[layer].forEach((spans, depth) => {
          track.lanes.push({ layer, depth, spans, y, height });
          y += height + Metric.space;
        });
      }
      y = Math.max(y, track.top + Metric.least);
      track.bottom = y;
      y += Metric.gap;
      return track;
    });
    this.height = y;
  }

  trackAt(y) {
    return this.tracks.find((track) => y >= track.top - 2 && y < track.bottom + Metric.gap - 2);
  }

  laneOf(timeline, span) {
    const layer = timeline.layerOf(span), depth = timeline.spans.depth[span];
    return this.tracks[timeline.spans.thread[span]].lanes.find((lane) => lane.layer === layer && lane.depth === depth);
  }

  // Where something that a thread did, and that is no span, is drawn.
  middleOf(thread) {
    const track = this.tracks[thread];
    return track.lanes.length > 0 ? track.lanes[0].y + track.lanes[0].height / 2 : (track.top + track.bottom) / 2;
  }
}

// The first of a lane's spans that ends after the time.
function firstEndingAfter(spans, ends, time) {
  let low = 0, high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[spans[middle]] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}
