"use strict";
// From what led to a callback, to the callback: strong for what is selected, faint for the rest of its object.

const mostFaintArrows = 200;

function drawArrows(painter) {
  const { app } = painter;
  const { timeline, selection, view } = app;
  if (!selection) return;
  const object = app.selectedObject();
  if (object >= 0) {
    let drawn = 0;
    for (const span of timeline.callbacksOfObject.list(object)) {
      if (timeline.spans.end[span] < view.begin || timeline.spans.begin[span] > view.end) continue;
      if (drawn++ > mostFaintArrows) break;
      for (const flow of timeline.flowsOfSpan.list(span)) drawArrow(painter, flow, false);
    }
  }
  const strong = selection.what === "span" ? timeline.flowsOfSpan.list(selection.index)
    : selection.what === "record" ? timeline.flowsOfRecord.list(selection.index) : [];
  for (const flow of strong) drawArrow(painter, flow, true);
  if (selection.what !== "span") return;
  // What the selected callback itself led to: submissions, arms and sets made while it ran, on its thread.
  for (const flow of app.flowsFrom(selection.index)) drawArrow(painter, flow, true);
}

function drawArrow(painter, flow, strong) {
  const { context, app } = painter;
  const { timeline, view, layout, theme } = app;
  const record = timeline.flows.record[flow], span = timeline.flows.span[flow];
  const lane = layout.laneOf(timeline, span);
  const from = { x: view.x(timeline.records.time[record]), y: layout.middleOf(timeline.records.thread[record]) };
  const to = { x: view.x(timeline.spans.begin[span]), y: lane.y + lane.height / 2 };
  if ((from.x < 0 && to.x < 0) || (from.x > painter.width && to.x > painter.width)) return;
  const bend = Math.min(Math.max((to.x - from.x) / 2, 14), 160);
  context.globalAlpha = strong ? 1 : 0.35;
  context.strokeStyle = context.fillStyle = theme.colour(["arrow-submit", "arrow-arm", "arrow-set", "arrow-request"][timeline.flows.kind[flow]]);
  context.lineWidth = strong ? 1.8 : 1;
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x + bend, from.y, to.x - bend - 6, to.y, to.x - 6, to.y);
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x - 8, to.y - 4);
  context.lineTo(to.x - 8, to.y + 4);
  context.fill();
  context.beginPath();
  context.arc(from.x, from.y, strong ? 3.5 : 2, 0, 7);
  context.fill();
  if (strong) drawArrowName(painter, timeline.flowKinds[timeline.flows.kind[flow]], from, to);
  context.globalAlpha = 1;
}

function drawArrowName(painter, text, from, to) {
  const { context } = painter;
  const { theme } = painter.app;
  if (Math.abs(to.x - from.x) < 60 && Math.abs(to.y - from.y) < 30) return;
  context.font = "11px " + theme.colour("font");
  const width = context.measureText(text).width + 10;
  const x = Math.min(Math.max((from.x + to.x) / 2 - width / 2, 2), painter.width - width - 2);
  const y = (from.y + to.y) / 2;
  context.fillStyle = theme.colour("paper");
  context.beginPath();
  context.roundRect(x, y - 8, width, 16, 8);
  context.fill();
  context.stroke();
  context.fillStyle = theme.colour("ink");
  context.fillText(text, x + 5, y + 0.5);
}
