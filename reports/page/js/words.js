// Texts and names. Times are virtual, in ns.
function clock(ns) {
  const ms = Math.round(ns / 1e6);
  if (ms < 1000) return ms ? ms + 'ms' : '0s';
  const h = Math.floor(ms / 3600000), m = Math.floor(ms / 60000) % 60;
  const s = String((ms % 60000) / 1000);
  return (h ? h + 'h' : '') + (h || m ? m + 'm' : '') + s + 's';
}

const plural = (n, one) => n + ' ' + one + (n === 1 ? '' : one.endsWith('s') ? 'es' : 's');

// Names are shortened by a common prefix or suffix.
const namespaces = new Set();
const domains = new Map();
for (const e of rec.events) {
  if (e.pod) namespaces.add(e.pod.split('/')[0]);
  if (e.node) domains.set(e.node, e.node.includes('.') ? e.node.slice(e.node.indexOf('.')) : '');
}
for (const a of rec.addresses) for (const s of a.spans) if (s.pod && s.pod.includes('/')) namespaces.add(s.pod.split('/')[0]);
const oneDomain = domains.size > 0 && new Set(domains.values()).size === 1 ? [...domains.values()][0] : '';

function shortPod(pod) {
  return namespaces.size === 1 && pod.includes('/') ? pod.slice(pod.indexOf('/') + 1) : pod;
}
// tinyPod shortens the name of a Deployment's pod: app-…hnkbl.
const tinyPod = (pod) => shortPod(pod).replace(/-[a-z0-9]{8,10}-([a-z0-9]{5})$/, '-…$1');
function shortNode(node) {
  return oneDomain && node.endsWith(oneDomain) ? node.slice(0, -oneDomain.length) : node;
}
const shortNetwork = (n) => (n.includes('/') ? n.slice(n.indexOf('/') + 1) : n);

// arrows replaces the ASCII arrows of the reports' texts.
const arrows = (text) => text.replaceAll(' -> ', '\u00a0→ ');

// stepText describes a step, after its parts in the races.
const stepText = (s) => (racesAt.has(s.step) ? racesAt.get(s.step).join(', ') + ': ' : '') + plainText(s);

// plainText describes a step.
function plainText(s) {
  if (s.text) return arrows(s.text);
  const heard = s.kind === 'event' && /^HEAR (\w+) (\S+)/.exec(s.key);
  if (heard) return 'observes ' + heard[2] + ': ' + heard[1].toLowerCase();
  if (s.kind === 'local') return s.key.replace(/^[A-Z]+/, (w) => w.toLowerCase());
  return [s.key, s.note && '→ ' + s.note].filter(Boolean).join(' ');
}

// shortActor names an actor: cni-add of web-1 (net1).
function shortActor(actor) {
  const parts = actor.replace(/~\d+$/, '').split('/');
  if (/^cni-(add|del)$/.test(parts[0]) && parts.length === 4) return parts[0] + ' of ' + shortPod(parts[1] + '/' + parts[2]) + ' (' + parts[3] + ')';
  if (parts[0] === 'kubelet' && parts.length === 4) return 'kubelet of ' + shortNode(parts[1]) + ' for ' + shortPod(parts[2] + '/' + parts[3]);
  if (parts[0] === 'kubelet' && parts.length === 2) return 'kubelet of ' + shortNode(parts[1]);
  return parts.join(' ');
}

const bands = {
  duplicate: 'two live sandboxes have it',
  blackholed: 'live, and some node cannot reach it',
  unbacked: 'live, not recorded for this pod: it can be assigned again',
  leaked: 'claimed, and its sandbox is gone',
};
const kinds = {
  read: 'reads', write: 'writes', watch: 'watches', event: 'observes', local: 'does',
};

// outcomes describes the effect of a decision on its message, by the name of the outcome.
const outcomes = {
  proceed: 'delivered',
  delay: 'delayed',
  elapse: 'time passes',
  'fail-before': 'a fault: answered with an error, not delivered to the server',
  'lose-reply': 'a fault: delivered, then answered with an error',
  stale: 'a fault: answered from an older revision',
  drop: 'a fault: the watch broke',
  gone: 'a fault: the watch broke, and the events it missed were compacted',
  crash: 'a fault: the process was killed, and the message did not arrive',
};

// ellipsis cuts a text to a width of a canvas.
const widths = new Map();
function fit(ctx, text, width) {
  if (width < 12) return '';
  const per = widths.get(ctx.font) || ctx.measureText('abcdefghij0123456789').width / 20;
  widths.set(ctx.font, per);
  const n = Math.floor(width / per);
  if (text.length <= n) return text;
  return n < 3 ? '' : text.slice(0, n - 1) + '…';
}
