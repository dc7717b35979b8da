// Search: what contains the text, in any case. It filters rows and tables, and finds
// steps.
let needle = '';
const matches = (hay) => !needle || hay.includes(needle);
const hayOf = (l) => (l.hay = l.hay || [l.who, l.text, l.key, l.pod, l.node].filter(Boolean).join(' ').toLowerCase());

let found = []; // steps
function search() {
  needle = state.q.trim().toLowerCase();
  found = needle ? [...new Set(lines.filter((l) => matches(hayOf(l))).map(stepOf))] : [];
  if (byId('q').value !== state.q) byId('q').value = state.q;
  showMatches();
}

function showMatches() {
  const out = byId('matches');
  byId('prevmatch').disabled = byId('nextmatch').disabled = !found.length;
  if (!needle) return void (out.textContent = '');
  const i = firstAfter(found, state.step, itself);
  out.textContent = !found.length ? 'no step' : (i > 0 && found[i - 1] === state.step ? i + ' of ' : '') + plural(found.length, 'step');
}

const nextMatch = () => { const i = firstAfter(found, state.step, itself); if (found.length) go({ step: found[i < found.length ? i : 0] }); };
const prevMatch = () => { const i = firstAfter(found, state.step - 1, itself) - 1; if (found.length) go({ step: found[i >= 0 ? i : found.length - 1] }); };

function makeSearch() {
  const q = byId('q');
  let typing = 0;
  q.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(() => go({ q: q.value }), 120); });
  q.addEventListener('keydown', (e) => {
    if (e.key === 'Enter') { go({ q: q.value }); if (e.shiftKey) prevMatch(); else nextMatch(); }
    if (e.key === 'Escape') go({ q: '' });
  });
  byId('prevmatch').addEventListener('click', prevMatch);
  byId('nextmatch').addEventListener('click', nextMatch);
}
