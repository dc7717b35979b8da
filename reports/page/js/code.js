// The lines of the address manager's own source: which sent a message, which called it.
// Where they can be read is what Go says of them (reports/page/code.go).
function sourceOf(site) {
  const spots = (site && rec.sources[site - 1]) || [];
  return spots.flatMap((s, i) => [
    i ? ', called by ' : null,
    s.url ? el('a', { href: s.url, rel: 'noopener noreferrer' }, s.at) : s.at || null,
    (s.at ? ' ' : '') + s.function,
  ]);
}
