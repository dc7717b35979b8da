// The record that came with the page: reports/record/record.go says what is in it.
const rec = JSON.parse(byId('record').textContent);
for (const list of ['steps', 'events', 'violations', 'addresses', 'screens', 'ranges', 'waiting', 'sources']) rec[list] = rec[list] || [];
for (const v of rec.violations) { v.turns = v.turns || []; v.objects = v.objects || []; }
for (const a of rec.addresses) a.spans = a.spans || [];

// The playhead goes from 0, before the first step, to the last.
const lastStep = Math.max(
  0,
  rec.steps.length ? rec.steps[rec.steps.length - 1].step : 0,
  rec.events.length ? rec.events[rec.events.length - 1].step : 0);

const gravest = rec.violations[Number(document.body.dataset.gravest)] || null;

// What the gravest violation is about: addresses, pods and actors by name.
const subjects = new Set();
if (gravest) for (const o of gravest.objects) subjects.add(o.slice(o.indexOf(' ') + 1));

// The same, with the nodes that its pods ran on.
const concerned = new Set([...subjects, ...rec.events.filter((e) => e.node && subjects.has(e.pod)).map((e) => e.node)]);

// The first few pods that were refused an address to the end.
const waiting = new Set(rec.waiting.slice(0, 5));

// Its turning points: by step, and those that are a message of an actor.
const turnSteps = new Set(gravest ? gravest.turns.map(stepOf) : []);
const turnMessages = new Set(gravest ? gravest.turns.filter((t) => t.actor).map((t) => t.step + ' ' + t.actor) : []);
const turnFacts = new Set(gravest ? gravest.turns.filter((t) => !t.actor).map(stepOf) : []);

// What steps have to do with the orders that decide over it: "A read", "B change".
const racesAt = new Map();
((gravest && gravest.races) || []).slice(0, 26).forEach((race, i) => {
  for (const part of ['read', 'change', 'use']) racesAt.set(race[part], (racesAt.get(race[part]) || []).concat(String.fromCharCode(65 + i) + ' ' + part));
});
const violationsAt = new Map();
for (const v of rec.violations) violationsAt.set(v.step, (violationsAt.get(v.step) || []).concat(v));

const eventsAt = new Map();
for (const e of rec.events) {
  if (!eventsAt.has(e.step)) eventsAt.set(e.step, []);
  eventsAt.get(e.step).push(e);
}
const isFaultEvent = (e) => e.kind === 'fault' || e.kind === 'actor-panic';

// points are the steps worth stopping at: turning points, faults and violations.
const points = [...new Set([
  ...turnSteps,
  ...violationsAt.keys(),
  ...rec.steps.filter((s) => s.fault).map(stepOf),
  ...rec.events.filter(isFaultEvent).map(stepOf),
])].sort((a, b) => a - b);

// messageAt is the message of a step, or undefined.
function messageAt(step) {
  const i = firstAfter(rec.steps, step, stepOf) - 1;
  return i >= 0 && rec.steps[i].step === step ? rec.steps[i] : undefined;
}

// between says whether an event came so long before the message of its step that
// the two are not one moment.
function between(e) {
  const m = messageAt(e.step);
  return Boolean(m) && m.at - e.at > 1e6;
}

// timeAt is the virtual time of a step, in ns.
function timeAt(step) {
  const i = firstAfter(rec.steps, step, stepOf) - 1;
  return i >= 0 ? rec.steps[i].at : 0;
}
