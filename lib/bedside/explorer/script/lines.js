// Lines and filters

function labels(row, v) {
  return row.human.length ? (differs(row, v) ? "≠ " : "") + [...new Set(row.human.map(h => h.value))].join(", ") : "";
}

function line(...sides) {                    // each a row and its verdict
  const [[row, verdict], [other, verdictB] = []] = sides;
  const {section, item, category, configuration, model, title} = row, b = other && other !== row ? labels(other, verdictB) : "";
  return {sides, row, verdict, other, verdictB, passes: true, paper: papers.get(row.paper) ?? row.paper, section, item, category,
    configuration, model, title, human: labels(row, verdict) + (b && ` | ${b}`),
    mark: signs(sides),
    score: verdict?.score ?? null, apart: !other ? apart(row) : 0,
    word: word(verdict), outcome: outcome(verdict), wordB: word(verdictB), outcomeB: outcome(verdictB)};
}

const group = (row, what) => JSON.stringify([row.paper, row.section, row.item, what === "model" ? row.configuration : row.model]);

const subject = () => ({models: "model", source: "model"})[state.compare] ?? state.compare;       // what is compared
const comparable = row => row.by === "model" || !/^models?$/.test(state.compare);

function pairs() {
  const {compare, a, b} = state, what = subject();
  if (compare === "judge")
    return rows.filter(r => of(r, a) && of(r, b)).map(r => line([r, of(r, a)], [r, of(r, b)]));
  const groups = new Map();
  for (const row of rows)
    if (comparable(row) && (row[what] === a || row[what] === b))
      entry(groups, group(row, what), () => [[], []])[row[what] === a ? 0 : 1].push(row);
  return [...groups.values()].flatMap(([as, bs]) =>
    as.slice(0, bs.length).map((r, i) => line([r, counting(r)], [bs[i], counting(bs[i])])));
}

const columnOf = model => `model:${model}`;

function across() {                         // a line for each item and configuration, with a column for each model
  const groups = new Map();
  for (const row of rows)
    if (comparable(row) && (!state.model.size || state.model.has(row.model)))
      entry(groups, group(row, "model"), () => []).push([row, counting(row)]);
  return [...groups.values()].map(sides => {
    const made = line(...sides.sort(([x], [y]) => compare(x.model, y.model))), replies = new Map();
    for (const [row, v] of sides) entry(replies, row.model, () => []).push(outcome(v));
    for (const [model, found] of replies) {
      const [failed, right] = ["failed", "right"].map(o => found.filter(x => x === o).length), n = found.length;
      const mixed = failed ? `✗ ${failed} of ${n} failed` : `✓ ${right} of ${n} right`;
      made[columnOf(model)] = new Set(found).size === 1 ? found[0] : mixed;
    }
    const found = new Set([...replies.values()].flat());
    return {...made, missed: !found.has("failed") ? (found.has("right") ? "none" : "") : found.has("right") ? "some" : "all"};
  });
}

// failures come first, and of them those that score lowest
const worst = l => Object.keys(OUTCOMES).indexOf(l.outcome);
const worse = (x, y) => worst(x) - worst(y) || (scoreOf(x.verdict) ?? 0) - (scoreOf(y.verdict) ?? 0);

let made = {key: null, lines: []};
function lines() {
  const key = JSON.stringify([state.compare, state.a, state.b, [...state.judge], state.compare === "models" && [...state.model]]);
  if (made.key !== key)
    made = {key, lines: state.compare === "models" ? across() : state.compare ? pairs() : rows.map(r => line([r, counting(r)])).sort(worse)};
  return made.lines;
}

const valuesOf = {verdict: (r, v) => word(v), score: (r, v) => band(v), criterion: (r, v) => failedOf(v)};      // others are a row's own
for (const facet in FACETS) valuesOf[facet] ??= r => r[facet];

function filters() {                        // those in use: name, what must hold of a row and its verdict
  const used = [];
  for (const facet in FACETS)
    if (state[facet].size && facet !== subject()) {
      const chosen = state[facet];
      used.push({name: facet, holds: facet === "judge" ? r => r.verdicts.some(v => chosen.has(v.judge))
        : (r, v) => [valuesOf[facet](r, v)].flat().some(value => chosen.has(value))});
    }
  if (state.outcome) used.push({name: "outcome", holds: (r, v) => outcome(v) === state.outcome});
  if (state.differs) used.push({name: "differs", holds: differs});
  if (state.disagree) used.push({name: "disagree", holds: disagree});
  if (state.search.trim()) used.push({name: "search", holds: search()});
  return used;
}

const inPair = {"": () => true, both: l => l.outcome === "failed" && l.outcomeB === "failed",
  a: l => l.outcome === "failed" && l.outcomeB === "right", b: l => l.outcome === "right" && l.outcomeB === "failed",
  differ: l => l.verdict?.status === "graded" && l.verdictB?.status === "graded" && l.word !== l.wordB};
const chosenOf = key => l => state.compare === "models" ? !key || l.missed === key : inPair[key](l);
function choices() {                        // a pair is named by whose reply failed, or by who says so
  if (state.compare === "models") return MISSED;
  const named = (x = "") => state.compare === "judge" ? `failed by ${plain(x, 60)} alone` : `only ${plain(x, 60)}’s reply failed`;
  return {...PAIRS, a: named(state.a), b: named(state.b)};
}

/* One pass over the lines. A line passes when all filters hold (of several sides: on one of them). What a facet's choice
   would show counts lines that fail no filter but, at most, that facet's own. */
function pass(used) {
  const counts = Object.fromEntries([...Object.keys(FACETS), "outcome", "differs", "disagree"].map(f => [f, new Map()]));
  const only = new Map(), passing = [];
  const bump = (map, value) => map.set(value, (map.get(value) ?? 0) + 1), seen = [], failing = [];
  const once = (name, value) => seen.includes(value) || (seen.push(value), bump(counts[name], value));      // for each line
  const values = {...valuesOf, outcome: (r, v) => outcome(v), differs, disagree};
  const names = Object.keys(counts).filter(f => f !== "judge"), others = used.filter(u => u.name !== "judge");
  const missed = (row, verdict) => {        // the one filter that fails, "" if none does, null if several do
    let failing = "";
    for (const u of used)
      if (!u.holds(row, verdict)) {
        if (failing) return null;
        failing = u.name;
      }
    return failing;
  };
  for (const l of lines()) {
    const {sides} = l;
    failing.length = sides.length;
    for (let i = 0; i < sides.length; i++) failing[i] = missed(sides[i][0], sides[i][1]);
    l.passes = failing.includes("");
    if (l.passes) passing.push(l);
    else for (const name of new Set(failing)) if (name) bump(only, name);
    for (const name of names) {
      seen.length = 0;
      for (let i = 0; i < sides.length; i++)
        if (failing[i] === "" || failing[i] === name) for (const value of [values[name](sides[i][0], sides[i][1])].flat()) once(name, value);
    }
    if (state.compare !== "judge") {        // another judge brings other verdicts, so each is tried
      seen.length = 0;
      for (const [row] of sides)
        for (const v of row.verdicts) if (others.every(u => u.holds(row, v))) once("judge", v.judge);
    }
  }
  return {counts, only, passing};
}

function apply() {
  const start = performance.now(), used = filters(), result = pass(used);
  const shown = result.passing.filter(l => l.passes = !state.compare || chosenOf(state.pairs)(l));
  const fresh = listed !== made.lines;
  listed = made.lines;
  if (!columns()) if (fresh) draw(); else table.refreshFilter();
  ordered = null;
  count(result.counts);
  summarise(shown, result.passing);
  nothing(shown, result, used);
  detail();
  later();
  timings.push(performance.now() - start);
}
