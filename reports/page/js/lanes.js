// The lanes: a row for each process or pod, a mark for each message. Rows of a node stand
// together; those of the gravest violation's story stand first.
const laneHeight = 26;
const marks = { read: 'reads', write: 'writes', watch: 'watches', event: 'observes a change', local: 'local action on its node', fact: 'fact', failed: 'upstream refused', fault: 'fault' };

// laneOf says where a process belongs: its node or the control plane, and the row
// there. cni-add/default/web-0/net1~3 is what pod default/web-0 does on its node.
function laneOf(actor, podNode, nodes) {
  const parts = actor.replace(/~\d+$/, '').split('/');
  const pod = (i) => (parts.length > i + 1 ? parts[i] + '/' + parts[i + 1] : parts[i]);
  if ((parts[0] === 'cni-add' || parts[0] === 'cni-del') && parts.length > 1) return [podNode.get(pod(1)) || '', pod(1), pod(1)];
  if (parts.length > 1 && nodes.has(parts[1])) {
    if (parts.length > 2) { podNode.set(pod(2), parts[1]); return [parts[1], pod(2), pod(2)]; }
    return [parts[1], parts[0], ''];
  }
  if (parts.length > 1 && parts[0] === 'kubelet') return [parts[1], parts[2] ? pod(2) : parts[0], parts[2] ? pod(2) : ''];
  return ['', parts.join(' '), ''];
}

function makeLaneList() {
  const lanes = new Map();
  const podNode = new Map();
  const nodes = new Set(domains.keys());
  const lane = (node, row, pod) => {
    const key = node + '\n' + row;
    if (!lanes.has(key)) lanes.set(key, { node, row, pod, marks: [], hay: new Set() });
    return lanes.get(key);
  };
  let e = 0;
  const facts = (step) => {
    for (; e < rec.events.length && rec.events[e].step <= step; e++) {
      const ev = rec.events[e];
      if (ev.pod && ev.node) podNode.set(ev.pod, ev.node);
      const at = ev.pod ? lane(ev.node || podNode.get(ev.pod) || '', ev.pod, ev.pod)
        : ev.actor ? lane(...laneOf(ev.actor, podNode, nodes))
          : ev.node ? lane(ev.node, 'the node', '') : lane('', ev.kind === 'operator' ? 'operator' : 'cluster', '');
      if (ev.kind === 'add-begin' || ev.kind === 'del-begin') continue;
      const turn = turnFacts.has(ev.step) && (ev.kind === 'operator' || ev.kind === 'node' || subjects.has(ev.pod) || ev.failed && waiting.has(ev.pod));
      at.marks.push({ step: ev.step, kind: isFaultEvent(ev) ? 'fault' : ev.failed ? 'failed' : 'fact', text: ev.text, turn });
      if (turn) at.story = true;
    }
  };
  for (const s of rec.steps) {
    facts(s.step - 1);
    const at = lane(...laneOf(s.actor, podNode, nodes));
    const turn = turnMessages.has(s.step + ' ' + s.actor);
    at.marks.push({ step: s.step, kind: s.fault ? 'fault' : s.kind, text: stepText(s), turn });
    at.hay.add(s.actor);
    if (turn) at.story = true;
  }
  facts(Infinity);
  for (const l of lanes.values()) {
    if (subjects.has(l.pod) || waiting.has(l.pod)) l.story = true;
    l.hay = [l.node, l.row, ...l.hay].join(' ').toLowerCase();
  }
  return [...lanes.values()];
}

function drawMark(ctx, kind, x, y) {
  ctx.lineWidth = 1.6;
  ctx.fillStyle = ctx.strokeStyle = colour('mark-' + kind);
  ctx.beginPath();
  switch (kind) {
    case 'read': ctx.arc(x, y, 3.4, 0, 7); ctx.stroke(); break;
    case 'write': ctx.fillRect(x - 4, y - 4, 8, 8); break;
    case 'event': case 'watch': ctx.moveTo(x - 3, y - 4); ctx.lineTo(x + 3, y); ctx.lineTo(x - 3, y + 4); ctx.stroke(); break;
    case 'fault': ctx.moveTo(x - 4, y - 4); ctx.lineTo(x + 4, y + 4); ctx.moveTo(x + 4, y - 4); ctx.lineTo(x - 4, y + 4); ctx.lineWidth = 2.6; ctx.stroke(); break;
    case 'failed': ctx.moveTo(x, y - 6); ctx.lineTo(x + 5, y); ctx.lineTo(x, y + 6); ctx.lineTo(x - 5, y); ctx.closePath(); ctx.fillStyle = colour('panel'); ctx.fill(); ctx.stroke(); ctx.fillStyle = colour('mark-failed'); ctx.fillRect(x - 2, y - 1, 4, 2); break;
    case 'fact': ctx.moveTo(x, y - 6); ctx.lineTo(x + 5, y); ctx.lineTo(x, y + 6); ctx.lineTo(x - 5, y); ctx.fill(); break;
    default: ctx.arc(x, y, 2, 0, 7); ctx.fill();
  }
}
const gravity = { fault: 5, failed: 4, fact: 3, write: 2, read: 1 };

let lanesView = null;
function makeLanes() {
  const list = makeLaneList();
  const groups = new Map();
  for (const l of list) {
    const key = l.story ? 'In this story' : l.node ? 'On ' + shortNode(l.node) : 'Control plane';
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(l);
  }
  const shown = new Set(gravest ? list.filter((l) => concerned.has(l.node)).map((l) => 'On ' + shortNode(l.node)) : []);
  const order = (k) => (k === 'In this story' ? 0 : shown.has(k) ? 1 : k === 'Control plane' ? 2 : 3);
  const titles = [...groups.keys()].sort((a, b) => order(a) - order(b) || (a < b ? -1 : a > b ? 1 : 0));
  const heads = new Map(titles.map((t) => [t, { head: true, height: 22, label: t }]));
  for (const l of list) {
    l.height = laneHeight;
    l.label = l.pod ? tinyPod(l.pod) : l.row;
    l.title = l.row + (l.node ? ' on ' + l.node : '');
    if (l.row === 'the node') l.label = 'node ' + shortNode(l.node);
    else if (l.story && l.node && innerWidth > 600) l.label += ' @' + shortNode(l.node);
    l.say = () => l.title + ': ' + plural(l.marks.length, 'mark') + '. Press to search for it.';
    l.press = () => go({ q: l.pod || l.row });
  }
  lanesView = makeRows(byId('lanes'), {
    name: 'Processes and pods',
    describe: () => 'Messages of ' + plural(list.length, 'row') + ' from step ' + Math.round(view.from) + ' to ' + Math.round(view.to - 1) + '. Every step, below, says the same in words.',
    rows: () => {
      const rows = titles.flatMap((t) => {
        const seen = groups.get(t).filter((l) => matches(l.hay));
        return seen.length ? [heads.get(t), ...seen] : [];
      });
      return rows.length ? rows : [{ head: true, height: 30, label: 'No row fits the search' }];
    },
    draw: drawLane,
  });
}

// drawLane paints the marks in view, the gravest where several share a place, and
// writes beside each what it was as far as there is room until the next.
function drawLane(ctx, lane, y, width) {
  const from = firstAfter(lane.marks, view.from - 1, stepOf);
  const mid = y + laneHeight / 2;
  const places = [];
  for (let i = from; i < lane.marks.length && lane.marks[i].step < view.to; i++) {
    const m = lane.marks[i];
    const x = Math.round(xOf(m.step + 0.5, width));
    const last = places[places.length - 1];
    if (last && x - last.x < 2) {
      if (m.turn && !last.mark.turn || (gravity[m.kind] || 0) > (gravity[last.mark.kind] || 0) && Boolean(m.turn) === Boolean(last.mark.turn)) last.mark = m;
    } else places.push({ x, mark: m });
  }
  ctx.fillStyle = colour('line');
  if (places.length > 1) ctx.fillRect(places[0].x, mid, places[places.length - 1].x - places[0].x, 1);
  ctx.font = '11px ' + colour('sans');
  ctx.textBaseline = 'middle';
  places.forEach((p, i) => {
    if (p.mark.turn) {
      ctx.strokeStyle = colour('play');
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      ctx.arc(p.x, mid, 9, 0, 7);
      ctx.stroke();
    }
    drawMark(ctx, p.mark.kind, p.x, mid);
    const room = (i + 1 < places.length ? places[i + 1].x - 10 : width) - p.x - 12;
    const text = room > 36 ? fit(ctx, p.mark.text, room) : '';
    if (text) {
      ctx.fillStyle = colour('panel');
      ctx.fillRect(p.x + 11, mid - 7, ctx.measureText(text).width + 2, 14);
      ctx.fillStyle = colour('text');
      ctx.fillText(text, p.x + 12, mid + 0.5);
    }
  });
}

function makeLaneLegend() {
  const legend = byId('lanelegend');
  const used = new Set(rec.steps.map((s) => (s.fault ? 'fault' : s.kind)).concat(rec.events.map((e) => (isFaultEvent(e) ? 'fault' : e.failed ? 'failed' : 'fact'))));
  const draw = () => legend.replaceChildren(...Object.entries(marks).filter(([kind]) => used.has(kind) && !(kind === 'watch' && used.has('event'))).map(([kind, text]) => {
    const c = el('canvas', { 'aria-hidden': 'true' });
    drawMark(sized(c, 16, 16), kind, 8, 8);
    return el('li', {}, c, ' ' + text);
  }), gravest && turnSteps.size ? el('li', {}, '◯ ringed: a turning point of the story') : '');
  draw();
  scheme.addEventListener('change', () => { palette = {}; draw(); });
}
