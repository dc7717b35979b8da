const $ = (s) => document.querySelector(s), menu = $("nav details");
const narrow = matchMedia("(max-width: 800px)"), fold = () => { menu.open = !narrow.matches; };
fold(); narrow.addEventListener("change", fold);

const field = $("#search"), results = $("#results");
$(".search").hidden = false;
let loading;
const load = () => loading ??= new Promise((done) => {
  const s = document.createElement("script");
  s.src = root + "search.js";
  s.onload = done;
  document.head.append(s);
});
// A part scores 5 for a word in its heading, 3 in the page's title, 1 in the text; all words must occur.
const score = (p, words) => words.reduce((sum, w) => {
  const s = (p.h.toLowerCase().includes(w) ? 5 : 0) + (p.t.toLowerCase().includes(w) ? 3 : 0) + (p.x.toLowerCase().includes(w) ? 1 : 0);
  return sum < 0 || s === 0 ? -1 : sum + s;
}, 0);
const line = (p, word) => {
  const at = Math.max(0, p.x.toLowerCase().indexOf(word) - 60);
  return (at ? "…" : "") + p.x.slice(at, at + 160);
};
async function search() {
  await load();
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? parts.map((p) => [score(p, words), p]).filter(([s]) => s > 0).sort(([a], [b]) => b - a).slice(0, 20) : [];
  results.replaceChildren(...found.map(([, p]) => {
    const li = document.createElement("li"), a = document.createElement("a"), small = document.createElement("small");
    a.href = root + p.u;
    a.textContent = p.h && p.h !== p.t ? `${p.t}: ${p.h}` : p.t;
    small.textContent = line(p, words[0]);
    a.append(small);
    li.append(a);
    return li;
  }));
  if (words.length && !found.length) results.textContent = "nothing found";
}
field.addEventListener("input", search);
field.addEventListener("keydown", (e) => { if (e.key === "Enter") results.querySelector("a")?.click(); });
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) { e.preventDefault(); field.focus(); }
  if (e.key === "Escape") results.replaceChildren();
});
results.addEventListener("click", () => results.replaceChildren());

const filters = $(".filters");
if (filters) {
  const rows = [...document.querySelectorAll(".record tbody tr")];
  filters.hidden = false;
  const filter = () => {
    const want = Object.fromEntries(new FormData(filters)), words = want.text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const r of rows) {
      const d = r.dataset, text = r.textContent.toLowerCase();
      r.hidden = !((!want.component || d.component === want.component) && (!want.violated || d.violated.split(" ").includes(want.violated)) &&
        (!want.fixed || d.fixed === want.fixed) && (!want.known || d.known === want.known) && words.every((w) => text.includes(w)));
    }
    filters.querySelector("output").textContent = `${rows.filter((r) => !r.hidden).length} of ${rows.length}`;
  };
  filters.addEventListener("input", filter);
  filters.addEventListener("submit", (e) => e.preventDefault());
  filter();
}
