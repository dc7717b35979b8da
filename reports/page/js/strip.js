// The strip: a row an address, and who held it. Three groups of bars: is (truth),
// what is wrong, says (record); those that overlap lie below each other.
const barHeight = { is: 17, wrong: 15, says: 15 };

// pattern paints a kind so that it differs from the others without colour.
const tiles = new Map();
function pattern(ctx, kind) {
  const key = kind + scheme.matches;
  if (!tiles.has(key)) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const c = tile.getContext('2d');
    c.fillStyle = colour(kind + '-back');
    c.fillRect(0, 0, 8, 8);
    c.strokeStyle = c.fillStyle = colour(kind);
    c.lineWidth = 1.6;
    c.beginPath();
    if (kind === 'duplicate') { c.moveTo(0, 0); c.lineTo(8, 8); c.moveTo(8, 0); c.lineTo(0, 8); }
    if (kind === 'unbacked') { c.moveTo(-2, 2); c.lineTo(2, -2); c.moveTo(-2, 10); c.lineTo(10, -2); c.moveTo(6, 10); c.lineTo(10, 6); }
    if (kind === 'blackholed') { c.moveTo(0, 2); c.lineTo(8, 2); c.moveTo(0, 6); c.lineTo(8, 6); }
    if (kind === 'leaked') { c.arc(2, 2, 1.2, 0, 7); c.moveTo(6, 6); c.arc(6, 6, 1.2, 0, 7); }
    c.stroke();
    tiles.set(key, ctx.createPattern(tile, 'repeat'));
  }
  return tiles.get(key);
}

// Those the gravest violation is about have colours; with few pods, all have.
const owners = new Map();
function ownerColour(who) {
  if (!owners.size) {
    const all = [...new Set(rec.addresses.flatMap((a) => a.spans.map((s) => s.pod)).filter(Boolean))];
    const first = all.filter((w) => subjects.has(w));
    const rest = all.filter((w) => !subjects.has(w));
    [...first, ...(all.length <= 8 ? rest : [])].slice(0, 8).forEach((w, i) => owners.set(w, i + 1));
    owners.set(undefined, 0);
  }
  return 'owner' + (owners.get(who) || 0);
}

function bar(ctx, s, x, y, w, h) {
  if (s.kind === 'live') {
    ctx.fillStyle = colour(ownerColour(s.pod));
    ctx.fillRect(x, y, w, h);
  } else if (s.kind === 'claimed') {
    ctx.fillStyle = colour('panel');
    ctx.fillRect(x, y, w, h);
    ctx.strokeStyle = colour(ownerColour(s.pod));
    ctx.lineWidth = 2;
    ctx.strokeRect(x + 1, y + 1, Math.max(0, w - 2), h - 2);
  } else {
    ctx.fillStyle = pattern(ctx, s.kind);
    ctx.fillRect(x, y, w, h);
    ctx.strokeStyle = colour(s.kind);
    ctx.lineWidth = 1;
    ctx.strokeRect(x + 0.5, y + 0.5, Math.max(0, w - 1), h - 1);
  }
}

// name writes what a bar is, where it begins or where the view does.
function name(ctx, s, x, y, w, h, width) {
  const left = Math.max(x, 0), right = Math.min(x + w, width);
  const wrong = s.kind !== 'live' && s.kind !== 'claimed';
  ctx.font = (wrong ? '600 11px ' : '11px ') + colour('sans');
  ctx.textBaseline = 'middle';
  let text = fit(ctx, wrong ? s.kind : tinyPod(s.pod || '?'), right - left - 8);
  if (wrong && text !== s.kind) text = right - left > 13 ? s.kind[0].toUpperCase() : '';
  if (!text) return;
  if (wrong) {
    ctx.fillStyle = colour('panel');
    ctx.fillRect(left + 2, y + 1.5, ctx.measureText(text).width + 4, h - 3);
  }
  ctx.fillStyle = colour(s.kind === 'live' ? 'onowner' : 'text');
  ctx.fillText(text, left + 4, y + h / 2 + 0.5);
}

// layers sorts an address' spans into lines in which none overlaps another.
function layers(held) {
  const lines = [];
  for (const [group, belongs] of [['is', (k) => k === 'live'], ['wrong', (k) => wrongs.includes(k)], ['says', (k) => k === 'claimed']]) {
    const open = [];
    for (const s of held.spans.filter((x) => belongs(x.kind)).sort((a, b) => a.from - b.from)) {
      const end = s.to || Infinity;
      let line = open.find((l) => l.end <= s.from);
      if (!line) { line = { group, end: 0, spans: [] }; open.push(line); lines.push(line); }
      line.spans.push(s);
      line.end = end;
    }
  }
  return lines;
}

const describeHeld = (held) => {
  const now = heldAt(held, state.step);
  const who = (list) => [...new Set((list || []).map((s) => shortPod(s.pod || 'unknown')))].join(' and ') || 'none';
  const wrong = wrongs.filter((k) => now[k]).map((k) => k + ', ' + bands[k]);
  return [held.addr, held.network && 'in ' + held.network, 'held by ' + who(now.live), 'recorded for ' + who(now.claimed), ...wrong].filter(Boolean).join(', ');
};

// notesOf are the words beside the bars: which are truth and which are record.
function notesOf(lines) {
  const notes = [];
  let y = 3;
  for (const l of lines) {
    if (l.group !== 'wrong' && !notes.some((n) => n.text === l.group)) notes.push({ y, text: l.group });
    y += barHeight[l.group] + 1;
  }
  return notes;
}

let strip = null;
function makeStrip() {
  const many = new Set(rec.addresses.map((a) => a.addr)).size < rec.addresses.length;
  const all = rec.addresses.map((held) => {
    const lines = layers(held);
    const story = subjects.has(held.addr) && held.spans.some((s) => subjects.has(s.pod) || wrongs.includes(s.kind));
    const trouble = held.spans.some((s) => wrongs.includes(s.kind));
    return {
      held, lines, story, trouble,
      height: 8 + lines.reduce((n, l) => n + barHeight[l.group] + 1, 0),
      notes: notesOf(lines),
      label: held.addr + (many && held.network ? ' ' + shortNetwork(held.network) : ''),
      title: [held.addr, held.network].filter(Boolean).join(' in '),
      hay: [held.addr, held.network, ...held.spans.flatMap((s) => [s.pod, s.node])].join(' ').toLowerCase(),
      say: () => describeHeld(held) + '. Press to search for it.',
      press: () => go({ q: held.addr }),
    };
  });
  const rank = (r) => (r.story ? 0 : r.trouble ? 1 : 2);
  all.sort((a, b) => rank(a) - rank(b)); // stable: by network, then address
  const which = byId('which');
  which.querySelector('[value=trouble]').disabled = !all.some((r) => r.trouble);
  which.querySelector('[value=story]').disabled = !all.some((r) => r.story);

  strip = makeRows(byId('strip'), {
    name: 'Addresses',
    describe: () => plural(all.length, 'address') + ' from step ' + Math.round(view.from) + ' to ' + Math.round(view.to - 1) + '. The record against the truth, below, says the same in words.',
    rows: () => {
      const rows = all.filter((r) => matches(r.hay) && (which.value === 'all' || (which.value === 'story' ? r.story : r.story || r.trouble)));
      return rows.length ? rows : [{ height: 30, label: 'none', title: 'No address fits the search', lines: [] }];
    },
    draw: (ctx, row, y, width) => {
      let top = y + 3;
      for (const line of row.lines) {
        const h = barHeight[line.group];
        const seen = line.spans.map((s) => [s, xOf(s.from, width), xOf(s.to || lastStep + 1, width)]).filter(([, a, b]) => b >= 0 && a <= width);
        for (const [s, a, b] of seen) bar(ctx, s, Math.max(a, -10), top, Math.max(1.5, Math.min(b, width + 10) - Math.max(a, -10)), h);
        for (const [s, a, b] of seen) name(ctx, s, a, top, b - a, h, width);
        top += h + 1;
      }
    },
  });
  which.addEventListener('change', () => strip.measure());
}

function makeStripLegend() {
  const legend = byId('striplegend');
  const entries = [['live', 'is: a sandbox has it'], ['claimed', 'says: the datastore assigns it to a pod'], ...occurring.map((k) => [k, k + ' (or ' + k[0].toUpperCase() + '): ' + bands[k]])];
  const draw = () => {
    legend.replaceChildren(...entries.map(([kind, text]) => {
      const c = el('canvas', { 'aria-hidden': 'true' });
      const ctx = sized(c, 34, 15);
      bar(ctx, { kind, pod: undefined }, 0, 0, 34, 15);
      return el('li', {}, c, ' ' + text);
    }));
  };
  draw();
  scheme.addEventListener('change', () => { palette = {}; draw(); });
}
