// The step itself: the decision, what it came to, and what it changed.
function showDecision() {
  const box = byId('decision');
  const m = messageAt(state.step);
  const parts = [];
  if (state.step === 0) parts.push(el('p', {}, 'Before the first step: the initial state of the scenario.'));
  else if (!m) parts.push(el('p', {}, 'No message: time passes, or a local action of the cluster.'));
  const events = eventsAt.get(state.step) || [];
  const broken = violationsAt.get(state.step) || [];
  // What came of the step is said first, then which message carried it.
  const turns = gravest ? gravest.turns.filter((t) => t.step === state.step && !t.actor) : [];
  for (const t of turns) parts.push(el('p', { class: 'sentence' }, el('strong', {}, arrows(t.text))));
  for (const v of broken) {
    parts.push(el('p', { class: 'broken' }, el('strong', {}, '✗ ' + v.invariant), ' ' + arrows(v.message), v.meaning ? el('span', { class: 'dim' }, ' ' + v.meaning) : null));
  }
  const rest = events.filter((e) => !turns.some((t) => t.text === e.text));
  if (rest.length) parts.push(el('ul', { class: 'facts' }, ...rest.slice(0, 30).map((e) => el('li', { class: isFaultEvent(e) || e.failed ? 'hurt' : null }, between(e) ? el('span', { class: 'dim' }, 'at ' + clock(e.at) + ', before this message: ') : '', arrows(e.text))), rest.length > 30 ? el('li', { class: 'dim' }, '… and ' + (rest.length - 30) + ' more') : null));
  if (m) {
    const carried = parts.length > 0;
    parts.push(el('p', { class: carried ? null : 'sentence' }, carried ? (events.some(between) ? 'The message after it: ' : 'With the message: ') : '', el('strong', { title: m.actor }, shortActor(m.actor)), m.kind === 'local' ? '' : ' ', m.kind === 'local' ? ': ' : m.text || m.kind === 'event' ? '' : (kinds[m.kind] || m.kind) + ': ', stepText(m)));
    const facts = [['Process', m.actor], ['Message', m.key], ['Answer', m.note], ['Outcome', m.outcome + ' (' + (outcomes[m.outcome] || (m.fault ? 'a fault' : 'no fault')) + ')'], ['Choices', m.of > 1 ? 'one of ' + m.of + ' that could have come next' : 'the only one there was'], ['Time', clock(m.at)]];
    const source = sourceOf(m.site);
    parts.push(el('dl', {}, ...facts.filter(([, v]) => v).map(([k, v]) => el('div', {}, el('dt', {}, k), el('dd', { class: m.fault && k === 'Outcome' ? 'hurt' : null }, v))),
      source.length ? el('div', {}, el('dt', {}, 'Source'), el('dd', { class: 'source' }, ...source)) : null));
  }
  box.replaceChildren(...parts);
}

// goneSandbox says which sandbox went, and why, if the step's events say so.
function goneSandbox(d) {
  const t = film.tables[d.t];
  if (t.name !== 'sandboxes' || d.now || !d.old) return '';
  const at = (c) => d.old[t.columns.indexOf(c)] || '';
  const event = (eventsAt.get(state.step) || []).find((e) => e.kind === 'sandbox-down' && e.pod === at('pod') && (!e.container || e.container === at('container')));
  return 'sandbox of ' + shortPod(at('pod')) + ' on ' + shortNode(at('node')) + (at('address') ? ' with ' + at('address') : '') + ': gone' + (event && event.why ? ', ' + event.why : '');
}

function showChanged() {
  const lines = scene.delta.filter((d) => d.old || d.now);
  const box = byId('changed');
  if (!lines.length) return box.replaceChildren(el('p', { class: 'dim' }, 'No change in the tables below.'));
  const items = lines.slice(0, 40).map((d) => {
    const t = film.tables[d.t];
    const kind = !d.now ? 'removed' : d.old ? 'changed' : 'added';
    const parts = [el('span', { class: 'mark', 'aria-hidden': 'true' }, markWords[kind][0]), hidden(markWords[kind][1]), ' ', el('span', { class: 'dim' }, (t.title || t.name) + ': ')];
    if (goneSandbox(d)) parts.push(goneSandbox(d));
    else if (kind !== 'changed') parts.push((d.now || d.old).map((c, i) => c && (t.columns[i] === 'container' || t.columns[i] === 'handle' ? '' : c)).filter(Boolean).join(' · '));
    else {
      parts.push((d.now[0] || d.key) + ': ');
      d.now.forEach((c, i) => {
        if (c !== d.old[i]) parts.push(t.columns[i] + ' ', el('del', {}, d.old[i] || '∅'), ' ', el('ins', {}, c || '∅'), ' ');
      });
    }
    return el('li', { class: kind }, ...parts);
  });
  if (lines.length > 40) items.push(el('li', { class: 'dim' }, '… and ' + (lines.length - 40) + ' more rows'));
  box.replaceChildren(el('ul', { class: 'diff' }, ...items));
}
