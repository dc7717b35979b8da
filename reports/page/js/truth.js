// Records compared with the cluster: for each address the pods that the datastore assigns it
// to, and the sandboxes that have it.
let truthAll = false;

// sums describes the addresses of each kind of violation.
const sums = {
  duplicate: 'held by two live sandboxes',
  blackholed: 'unreachable from some node',
  unbacked: 'live and not recorded for the pod that has it',
  leaked: 'claimed without a live sandbox',
};

function showTruth() {
  const many = new Set(rec.addresses.map((a) => a.network || '')).size > 1;
  const rows = [];
  const lent = lenders();
  let used = 0, differ = 0;
  const count = { claimed: 0, live: 0 };
  for (const held of rec.addresses) {
    const now = heldAt(held, state.step);
    const wrong = wrongs.filter((k) => now[k]);
    const live = now.live || [], claimed = now.claimed || [];
    if (!live.length && !claimed.length && !wrong.length) continue;
    const who = (s) => (s.pod ? shortPod(s.pod) : '?') + (s.node ? ' on ' + shortNode(s.node) : '');
    const names = (list) => list.map(who).join(', ');
    let verdict = 'agree';
    if (wrong.length) verdict = wrong.map((k) => k + ': ' + bands[k]).join('; ');
    else if (!live.length) verdict = 'claimed; its sandbox does not have it yet, or no longer';
    else if (!claimed.length) verdict = 'live; not recorded (a call is under way, or another network)';
    if (lent.has(held.addr)) verdict += '; borrowed from a block of ' + shortNode(lent.get(held.addr).owner);
    used++;
    if (wrong.length) differ++;
    for (const k of ['claimed', 'live', ...wrongs]) if (now[k]) count[k] = (count[k] || 0) + 1;
    if (needle && !matches([held.addr, held.network, names(live), names(claimed), verdict, ...live.concat(claimed).map((s) => s.pod)].join(' ').toLowerCase())) continue;
    const cells = [held.addr, wrong.length ? el('strong', { class: 'so' }, '✗ ' + verdict) : (live.length && claimed.length ? '= ' : '… ') + verdict, names(claimed) || '—', names(live) || '—'];
    if (many) cells.splice(1, 0, held.network || '');
    rows.push({ cells, wrong: wrong.length > 0, rank: wrong.length ? (subjects.has(held.addr) ? 0 : 1) : verdict === 'agree' ? 3 : 2, addr: held.addr });
  }
  rows.sort((a, b) => a.rank - b.rank);
  const columns = ['Address', 'Verdict', 'Recorded for', 'Held by'];
  if (many) columns.splice(1, 0, 'Network');
  const bad = wrongs.filter((k) => count[k]).map((k) => count[k] + ' ' + sums[k]).join('; ');
  const sum = rec.addresses.length ? plural(used, 'address') + ': ' + count.claimed + ' claimed, ' + count.live + ' live; ' + (differ ? bad + '.' : 'no violation.') : 'This run has no addresses.';
  byId('truth').replaceChildren(el('p', {}, sum), ...(rows.length || state.q ? makeTable('Records compared with the cluster at step ' + state.step, columns, rows, truthAll, () => { truthAll = true; showTruth(); }) : []));
}
