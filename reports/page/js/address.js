// Addresses as numbers: 10.0.0.1 and 2001:db8::1 as {bits: 32 or 128, n: BigInt}.
function parseAddress(text) {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(text)) {
    return { bits: 32, n: text.split('.').reduce((n, p) => n * 256n + BigInt(p), 0n) };
  }
  if (!/^[0-9a-f:]+$/i.test(text)) return null;
  const halves = text.split('::');
  const words = (h) => (h ? h.split(':') : []);
  const head = words(halves[0]), tail = words(halves[1] || '');
  const gap = halves.length === 2 ? 8 - head.length - tail.length : 0;
  const all = [...head, ...Array(Math.max(0, gap)).fill('0'), ...tail];
  if (all.length !== 8) return null;
  return { bits: 128, n: all.reduce((n, w) => n * 65536n + BigInt('0x' + (w || '0')), 0n) };
}

// parsePrefix is {bits, first, size} of 10.0.0.0/24.
function parsePrefix(text) {
  const [address, length] = String(text).split('/');
  const a = parseAddress(address);
  if (!a || !/^\d+$/.test(length || '') || Number(length) > a.bits) return null;
  const size = 1n << BigInt(a.bits - Number(length));
  return { bits: a.bits, first: a.n - (a.n % size), size };
}

function formatAddress(bits, n) {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((s) => (n >> s) & 255n).join('.');
  const words = Array.from({ length: 8 }, (_, i) => ((n >> BigInt(112 - 16 * i)) & 65535n).toString(16)).join(':');
  // The longest run of zeros is left out, as everything else writes it (RFC 5952).
  const zeros = (words.match(/(?<![^:])0(?::0(?![^:]))+/g) || []).sort((a, b) => b.length - a.length)[0];
  return zeros ? (':' + words + ':').replace(':' + zeros + ':', '::').replace(/^:(?!:)|(?<!:):$/g, '') : words;
}

// last is the end of an address that distinguishes it from its neighbours: .46
const lastPart = (text) => (text.includes('.') ? text.slice(text.lastIndexOf('.')) : text.slice(text.lastIndexOf(':')).replace(/^:$/, ':0'));

// ofSix says of a text whether it is an address or a prefix of IPv6.
const ofSix = (text) => text.includes(':');

// heldAt is what is so of an address at a step: its spans of each kind.
function heldAt(held, step) {
  const now = Object.create(null);
  for (const s of held.spans) {
    if (s.from <= step && (!s.to || step < s.to)) (now[s.kind] = now[s.kind] || []).push(s);
  }
  return now;
}
const wrongs = ['duplicate', 'blackholed', 'unbacked', 'leaked']; // the worst first
const occurring = wrongs.filter((k) => rec.addresses.some((a) => a.spans.some((s) => s.kind === k)));
const wrongOf = (now) => wrongs.find((k) => now[k]);
