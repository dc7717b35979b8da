// Every message and every fact, a line each. Only the lines in sight exist.
const lineHeight = 24;
// The marks are those of who did what, as characters.
const lineMarks = { read: '○', write: '■', watch: '›', event: '›', local: '·', fact: '◆', failed: '◇', fault: '✕', violation: '✗' };

const lines = [];
(function join() {
  let e = 0;
  const facts = (step) => {
    for (; e < rec.events.length && rec.events[e].step <= step; e++) {
      const ev = rec.events[e];
      lines.push({ step: ev.step, at: ev.at, kind: isFaultEvent(ev) ? 'fault' : ev.failed ? 'failed' : 'fact', who: ev.actor || ev.node || '', text: arrows(ev.text), pod: ev.pod || '', node: ev.node || '' });
    }
  };
  const broken = (step) => { for (const v of violationsAt.get(step) || []) lines.push({ step, at: v.at, kind: 'violation', who: v.severity, text: v.invariant + ': ' + v.message }); };
  facts(0);
  for (const s of rec.steps) {
    facts(s.step - 1);
    lines.push({ step: s.step, at: s.at, kind: s.fault ? 'fault' : s.kind, who: s.actor, text: stepText(s), key: s.key });
    facts(s.step);
    broken(s.step);
  }
  facts(Infinity);
})();

let shownLines = lines;
let listTop = null;
const filters = {
  all: () => true,
  writes: (l) => !['read', 'watch', 'event'].includes(l.kind),
  points: (l) => l.kind === 'violation' || l.kind === 'fault' || turnSteps.has(l.step),
};

function makeList() {
  const box = byId('list');
  const spacer = el('div', { class: 'spacer', role: 'presentation' });
  box.append(spacer);
  const paint = () => {
    const from = Math.max(0, Math.floor(box.scrollTop / lineHeight) - 3);
    const to = Math.min(shownLines.length, from + Math.ceil(box.clientHeight / lineHeight) + 6);
    const here = document.createDocumentFragment();
    let current = null;
    for (let i = from; i < to; i++) {
      const l = shownLines[i];
      const now = l.step === state.step;
      const line = el('div', { class: ['line', l.kind, now && 'now', turnSteps.has(l.step) && 'turn', state.q && matches(hayOf(l)) && 'match'].filter(Boolean).join(' '), role: 'option', id: 'line' + i, 'aria-selected': String(now), 'aria-posinset': String(i + 1), 'aria-setsize': String(shownLines.length), 'data-step': String(l.step), title: l.text },
        el('span', { class: 'n' }, String(l.step)), el('span', { class: 'at' }, clock(l.at)), el('span', { class: 'kind', 'aria-hidden': 'true' }, lineMarks[l.kind] || ''), el('span', { class: 'who', title: l.who }, shortActor(l.who)), el('span', { class: 'text' }, l.text));
      line.style.top = i * lineHeight + 'px';
      if (now && !current) current = line.id;
      here.append(line);
    }
    spacer.replaceChildren(here);
    spacer.style.height = shownLines.length * lineHeight + 'px';
    if (current) box.setAttribute('aria-activedescendant', current);
    else box.removeAttribute('aria-activedescendant');
  };
  const follow = () => {
    spacer.style.height = shownLines.length * lineHeight + 'px'; // or there is nothing to scroll yet
    const i = Math.max(0, firstAfter(shownLines, state.step, stepOf) - 1);
    const first = firstAfter(shownLines, state.step - 1, stepOf);
    const y = Math.min(first, i) * lineHeight;
    if (y < box.scrollTop || y + lineHeight > box.scrollTop + box.clientHeight) box.scrollTop = y - box.clientHeight / 2;
    paint();
  };
  const repaint = soon(paint);
  box.addEventListener('scroll', repaint, { passive: true });
  box.addEventListener('click', (e) => { const l = e.target.closest('[data-step]'); if (l) go({ step: Number(l.dataset.step) }); });
  byId('listwhich').addEventListener('change', (e) => { shownLines = lines.filter(filters[e.target.value]); follow(); });
  new ResizeObserver(repaint).observe(box);
  listTop = follow;
}
