// Where the reader is: the step, what is searched, the node whose routes are shown.
// It stands in the address, so that a link points at it.
const state = { step: 0, q: '', node: '' };
const watchers = [];
const onChange = (f) => watchers.push(f); // f(what changed: {step, q, node})

function go(change) {
  const was = { ...state };
  Object.assign(state, change);
  state.step = Math.max(0, Math.min(lastStep, Math.round(Number(state.step)) || 0));
  const diff = { step: state.step !== was.step, q: state.q !== was.q, node: state.node !== was.node };
  if (!diff.step && !diff.q && !diff.node) return;
  if (diff.step) seek(state.step);
  for (const f of watchers) f(diff);
  remember();
}

// Browsers limit how often an address may change: a moment after the last step is
// often enough.
let remembering = 0;
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(() => {
    const hash = '#' + new URLSearchParams(Object.entries({ step: String(state.step), q: state.q, node: state.node }).filter(([, v]) => v));
    if (hash !== location.hash) history.replaceState(null, '', hash);
  }, 150);
}

function fromAddress() {
  const p = new URLSearchParams(location.hash.slice(1));
  const change = {};
  if (/^\d+$/.test(p.get('step') || '')) change.step = Number(p.get('step'));
  if (p.has('q')) change.q = p.get('q');
  if (p.has('node')) change.node = p.get('node');
  return change;
}
