// The part of the run that strip and lanes show: steps from view.from, up to view.to.
// Step s takes the room from s to s + 1.
const view = { from: 0, to: lastStep + 1 };
const viewers = [];
const viewMin = 8;

function look(from, to) {
  const span = Math.max(viewMin, Math.min(to - from, lastStep + 1));
  view.from = Math.max(0, Math.min(from, lastStep + 1 - span));
  view.to = view.from + span;
  for (const f of viewers) f();
}
const xOf = (step, width) => ((step - view.from) / (view.to - view.from)) * width;
const stepAtX = (x, width) => Math.floor(view.from + (x / width) * (view.to - view.from));

function lookAtAll() { look(0, lastStep + 1); }

// lookAtStory shows the turning points of the gravest violation and what is around
// them.
function lookAtStory() {
  if (!gravest) return lookAtAll();
  const turns = [...turnSteps, gravest.step];
  const from = Math.min(...turns), to = Math.max(...turns);
  const room = Math.max(6, (to - from) * 0.15);
  look(from - room, to + room);
}

function zoom(by) {
  const centre = state.step >= view.from && state.step < view.to ? state.step + 0.5 : (view.from + view.to) / 2;
  look(centre - (centre - view.from) * by, centre + (view.to - centre) * by);
}
function pan(by) {
  const d = (view.to - view.from) * by;
  look(view.from + d, view.to + d);
}

// followPlayhead moves the view when the playhead leaves it.
function followPlayhead() {
  const span = view.to - view.from;
  if (state.step < view.from || state.step >= view.to) look(state.step - span / 2, state.step + span / 2);
}

// ticks are the steps that have a line, and where.
function ticks(width) {
  const per = ((view.to - view.from) * 96) / width;
  const nice = [1, 2, 5].flatMap((n) => Array.from({ length: 7 }, (_, e) => n * 10 ** e)).sort((a, b) => a - b);
  const every = nice.find((n) => n >= per) || 10 ** Math.ceil(Math.log10(per));
  const out = [];
  for (let s = Math.ceil(view.from / every) * every; s < view.to; s += every) out.push([s, Math.round(xOf(s + 0.5, width))]);
  return out;
}

function drawLines(ctx, width, height) {
  ctx.fillStyle = colour('line');
  for (const [, x] of ticks(width)) ctx.fillRect(x, axisHeight - 4, 1, height - axisHeight + 4);
}

// drawAxis writes steps and times above a canvas.
const axisHeight = 30;
function drawAxis(ctx, width) {
  ctx.fillStyle = colour('panel');
  ctx.fillRect(0, 0, width, axisHeight);
  ctx.font = '11px ' + colour('mono');
  ctx.textBaseline = 'top';
  for (const [s, x] of ticks(width)) {
    ctx.fillStyle = colour('line');
    ctx.fillRect(x, 2, 1, axisHeight - 2);
    if (x > width - 60) continue;
    ctx.fillStyle = colour('text');
    ctx.fillText(String(s), x + 3, 2);
    ctx.fillStyle = colour('dim');
    ctx.fillText(clock(timeAt(s)), x + 3, 15);
  }
}

function drawPlayhead(ctx, width, height) {
  const x = xOf(state.step, width), w = Math.max(2, xOf(state.step + 1, width) - x);
  if (x + w < 0 || x > width) return;
  ctx.fillStyle = colour('playband');
  ctx.fillRect(x, 0, w, height);
  ctx.fillStyle = colour('play');
  const mid = Math.round(x + w / 2);
  ctx.fillRect(mid - 1, 0, 2, height);
  ctx.beginPath();
  ctx.moveTo(mid - 6, 0);
  ctx.lineTo(mid + 6, 0);
  ctx.lineTo(mid, 8);
  ctx.fill();
}
