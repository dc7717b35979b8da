// The playhead: buttons, slider, keys, and the words that say where it stands.
const nextStep = () => { const i = firstAfter(rec.steps, state.step, stepOf); go({ step: i < rec.steps.length ? rec.steps[i].step : lastStep }); };
const prevStep = () => { const i = firstAfter(rec.steps, state.step - 1, stepOf) - 1; go({ step: i >= 0 ? rec.steps[i].step : 0 }); };
const nextPoint = () => { const i = firstAfter(points, state.step, itself); if (i < points.length) go({ step: points[i] }); };
const prevPoint = () => { const i = firstAfter(points, state.step - 1, itself) - 1; if (i >= 0) go({ step: points[i] }); };

function makePlayhead() {
  const press = { first: () => go({ step: 0 }), prev: prevStep, next: nextStep, last: () => go({ step: lastStep }), prevturn: prevPoint, nextturn: nextPoint,
    zoomall: lookAtAll, zoomstory: lookAtStory, zoomin: () => zoom(0.5), zoomout: () => zoom(2), panleft: () => pan(-0.5), panright: () => pan(0.5) };
  for (const [id, f] of Object.entries(press)) byId(id).addEventListener('click', f);
  byId('zoomstory').disabled = !gravest;
  byId('prevturn').disabled = byId('nextturn').disabled = !points.length;
  const slider = byId('slider');
  slider.max = String(lastStep);
  slider.addEventListener('input', () => go({ step: Number(slider.value) }));
  byId('overview').addEventListener('pointerdown', (e) => { const r = e.target.getBoundingClientRect(); go({ step: Math.round(((e.clientX - r.left) / r.width) * lastStep) }); });
  document.addEventListener('keydown', onKey);
  document.addEventListener('click', (e) => {
    const a = e.target.closest('a[href^="#step="]');
    if (!a || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    go({ step: Number(new URLSearchParams(a.getAttribute('href').slice(1)).get('step')) });
    const bar = byId('bar').getBoundingClientRect();
    if (bar.top > innerHeight * 0.7) byId('bar').scrollIntoView();
  });
  const again = soon(drawOverview);
  new ResizeObserver(again).observe(slider);
  scheme.addEventListener('change', () => { palette = {}; again(); });
  viewers.push(again);
}

function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input:not([type=range]), select, textarea') || (!byId('keys').checked && !e.target.closest('#bar'))) return;
  const ranged = e.target.id === 'slider';
  const keys = { n: nextPoint, p: prevPoint, '/': () => byId('q').focus(), ArrowLeft: ranged ? null : prevStep, ArrowRight: ranged ? null : nextStep, Home: ranged ? null : () => go({ step: 0 }), End: ranged ? null : () => go({ step: lastStep }) };
  if (e.target.id === 'list') Object.assign(keys, { ArrowUp: prevStep, ArrowDown: nextStep });
  if (!keys[e.key]) return;
  e.preventDefault();
  keys[e.key]();
}

// saying is the text for screen readers, also printed below the slider.
function saying() {
  const m = messageAt(state.step);
  const events = eventsAt.get(state.step) || [];
  const broken = violationsAt.get(state.step) || [];
  const turns = gravest ? gravest.turns.filter((t) => t.step === state.step) : [];
  if (state.step === 0) return 'Before the first step';
  const times = new Map();
  for (const v of broken) times.set(v.invariant, (times.get(v.invariant) || 0) + 1);
  const parts = [...times].map(([name, n]) => '✗ ' + name + (n > 1 ? ', ' + n + ' times' : ''));
  if (turns.length) parts.push(...turns.map((t) => (t.actor ? shortActor(t.actor) + ' ' : '') + t.text));
  else if (m) parts.push(shortActor(m.actor) + (m.kind === 'local' ? ': ' : ' ') + stepText(m));
  if (!m) parts.push(...events.slice(0, 2).map((e) => e.text));
  return parts.join(' · ');
}

let shownBefore = false;
function showPlayhead() {
  byId('position').textContent = 'Step ' + state.step + ' of ' + lastStep + ' at ' + clock(timeAt(state.step));
  byId('slider').value = String(state.step);
  byId('slider').setAttribute('aria-valuetext', 'Step ' + state.step + ' of ' + lastStep + ' at ' + clock(timeAt(state.step)));
  byId('live').textContent = saying();
  for (const a of document.querySelectorAll('ol.turns a[data-step]')) {
    const here = Number(a.dataset.step) === state.step;
    if (here === (a.getAttribute('aria-current') === 'step')) continue;
    if (!here) a.removeAttribute('aria-current');
    else {
      a.setAttribute('aria-current', 'step');
      if (shownBefore) reveal(a); // at first, the story is seen from its beginning
    }
  }
  shownBefore = true;
}

// reveal scrolls the list that an entry is in, and nothing else.
function reveal(entry) {
  const box = entry.closest('ol').scrollHeight > entry.closest('ol').clientHeight + 4 ? entry.closest('ol') : entry.closest('aside');
  const b = box.getBoundingClientRect(), e = entry.getBoundingClientRect();
  if (e.bottom > b.bottom) box.scrollTop += e.bottom - b.bottom + 12;
  if (e.top < b.top) box.scrollTop -= b.top - e.top + 12;
}

// drawOverview marks, below the slider, where in the run the points are, and which
// part strip and lanes show.
function drawOverview() {
  const canvas = byId('overview');
  const width = byId('slider').clientWidth, height = 16, inset = 8; // half a slider's thumb
  const ctx = sized(canvas, width, height);
  const x = (step) => inset + (step / Math.max(1, lastStep)) * (width - 2 * inset);
  ctx.fillStyle = colour('playband');
  ctx.fillRect(x(view.from), 0, Math.max(3, x(view.to - 1) - x(view.from)), height);
  ctx.fillStyle = colour('dim');
  ctx.fillRect(inset, 8, width - 2 * inset, 1);
  for (const p of points) {
    const kind = violationsAt.has(p) ? 'violation' : turnSteps.has(p) ? 'turn' : 'fault';
    ctx.fillStyle = ctx.strokeStyle = colour(kind === 'turn' ? 'play' : 'bad');
    if (kind === 'violation') ctx.fillRect(x(p) - 1.5, 0, 3, height);
    else if (kind === 'turn') { ctx.beginPath(); ctx.arc(x(p), 8, 3, 0, 7); ctx.fill(); } else { ctx.lineWidth = 1.5; ctx.beginPath(); ctx.moveTo(x(p) - 3, 5); ctx.lineTo(x(p) + 3, 11); ctx.moveTo(x(p) + 3, 5); ctx.lineTo(x(p) - 3, 11); ctx.stroke(); }
  }
}
