// The film: tables whose rows come, change and go (model/recording/recording.go), and the
// scene that the playhead is at.
const film = rec.film || {};
film.tables = film.tables || [];
film.frames = film.frames || [];
for (const t of film.tables) t.columns = t.columns || [];
const tableIndex = (name) => film.tables.findIndex((t) => t.name === name);

// column is the position of the first of these names among a table's columns.
function column(t, ...names) {
  for (const n of names) {
    const i = t < 0 ? -1 : film.tables[t].columns.indexOf(n);
    if (i >= 0) return i;
  }
  return -1;
}

// A keyframe is a scene that can be jumped to. One stands wherever as many rows have
// changed since the one before as it has itself, so that all of them together are
// not larger than the film, and a jump costs no more than a few thousand changes.
const changesMin = 2000;
const keyframes = [];

const scene = {
  frame: -1,                               // the last one applied
  rows: film.tables.map(() => new Map()),  // by table: key → cells
  delta: [],                               // what the step changed: {t, key, old, now}
  touched: film.tables.map(() => 0),       // by table: grows with every change
};

function applyFrame(rows, frame, delta) {
  for (const c of frame.changes || []) {
    const table = rows[c.t];
    scene.touched[c.t]++;
    if (delta) delta.push({ t: c.t, key: c.k, old: table.get(c.k), now: c.r || undefined });
    if (c.r) table.set(c.k, c.r);
    else table.delete(c.k);
  }
}

function makeKeyframes() {
  const rows = film.tables.map(() => new Map());
  let since = 0;
  film.frames.forEach((f, i) => {
    applyFrame(rows, f);
    since += (f.changes || []).length;
    const size = rows.reduce((n, t) => n + t.size, 0);
    if (since >= Math.max(changesMin, size)) {
      keyframes.push({ frame: i, rows: rows.map((t) => new Map(t)) });
      since = 0;
    }
  });
}

// seek brings the scene to a step, and delta to what that very step changed.
function seek(step) {
  const target = firstAfter(film.frames, step, stepOf) - 1;
  const exact = target >= 0 && film.frames[target].step === step;
  const before = exact ? target - 1 : target;
  const k = firstAfter(keyframes, before, (x) => x.frame) - 1;
  const key = k >= 0 ? keyframes[k] : { frame: -1, rows: film.tables.map(() => new Map()) };
  if (scene.frame > before || scene.frame < key.frame) {
    scene.rows = key.rows.map((t) => new Map(t));
    scene.frame = key.frame;
    scene.touched = scene.touched.map((n) => n + 1);
  }
  while (scene.frame < before) applyFrame(scene.rows, film.frames[++scene.frame]);
  scene.delta = [];
  if (exact) applyFrame(scene.rows, film.frames[++scene.frame], scene.delta);
  scene.delta = replaced(scene.delta);
}

// replaced makes one change of a row that goes and one that comes in its place: the
// claim of an address by another pod, the next route to a destination.
function replaced(delta) {
  const place = (d) => { const c = d.old || d.now || [d.key]; return d.t + '\n' + c.slice(0, film.tables[d.t].name === 'routes' ? 2 : 1).join('\n'); };
  const gone = new Map(), come = new Map();
  for (const d of delta) {
    const side = d.old && !d.now ? gone : d.now && !d.old ? come : null;
    if (side) side.set(place(d), side.has(place(d)) ? null : d);
  }
  const out = [];
  for (const d of delta) {
    const was = gone.get(place(d)), is = come.get(place(d));
    if (!was || !is || d !== was && d !== is) out.push(d);
    else if (d === is) out.push({ t: d.t, key: d.key, old: was.old, now: d.now });
  }
  return out;
}
