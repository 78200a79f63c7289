// Lines and filters

function labels(row, v) {
  return row.human.length ? (differs(row, v) ? "≠ " : "") + [...new Set(row.human.map(h => h.value))].join(", ") : "";
}

function line(row, verdict, other, verdictB) {
  const {section, item, category, configuration, model, title} = row, b = other && other !== row ? labels(other, verdictB) : "";
  return {row, verdict, other, verdictB, passes: true, paper: papers.get(row.paper) ?? row.paper, section, item, category,
    configuration, model, title, human: labels(row, verdict) + (b && ` | ${b}`),
    mark: signs(row, other),
    word: word(verdict), outcome: outcome(verdict), wordB: word(verdictB), outcomeB: outcome(verdictB)};
}

const group = (row, what) => JSON.stringify([row.paper, row.section, row.item, what === "model" ? row.configuration : row.model]);

function pairs() {
  const {compare, a, b} = state;
  if (compare === "judge")
    return rows.filter(r => of(r, a) && of(r, b)).map(r => line(r, of(r, a), r, of(r, b)));
  const groups = new Map();
  for (const row of rows)
    if (row[compare] === a || row[compare] === b) {
      const key = group(row, compare);
      if (!groups.has(key)) groups.set(key, [[], []]);
      groups.get(key)[row[compare] === a ? 0 : 1].push(row);
    }
  return [...groups.values()].flatMap(([as, bs]) =>
    as.slice(0, bs.length).map((r, i) => line(r, counting(r), bs[i], counting(bs[i]))));
}

let made = {key: null, lines: []};
function lines() {
  const key = JSON.stringify([state.compare, state.a, state.b, ...state.judge]);
  if (made.key !== key) made = {key, lines: state.compare ? pairs() : rows.map(r => line(r, counting(r)))};
  return made.lines;
}

function filters() {                        // those in use: name, what must hold of a row and its verdict
  const used = [];
  for (const facet in FACETS)
    if (state[facet].size && facet !== state.compare) {
      const chosen = state[facet];
      used.push({name: facet, holds: facet === "judge" ? r => r.verdicts.some(v => chosen.has(v.judge))
        : facet === "verdict" ? (r, v) => chosen.has(word(v)) : r => chosen.has(r[facet])});
    }
  if (state.outcome) used.push({name: "outcome", holds: (r, v) => outcome(v) === state.outcome});
  if (state.differs) used.push({name: "differs", holds: differs});
  if (state.search.trim()) used.push({name: "search", holds: search()});
  return used;
}

const inPair = {"": () => true, both: l => l.outcome === "failed" && l.outcomeB === "failed",
  a: l => l.outcome === "failed" && l.outcomeB === "right", b: l => l.outcome === "right" && l.outcomeB === "failed",
  differ: l => l.verdict?.status === "graded" && l.verdictB?.status === "graded" && l.word !== l.wordB};

/* One pass over the lines. A line passes when all filters hold (of a pair: on either side). What a facet's choice
   would show counts lines that fail no filter but, at most, that facet's own. */
function pass(used) {
  const counts = Object.fromEntries([...Object.keys(FACETS), "outcome", "differs"].map(f => [f, new Map()]));
  const only = new Map(), passing = [];
  const bump = (map, value) => map.set(value, (map.get(value) ?? 0) + 1);
  const values = {outcome: (r, v) => outcome(v), differs, verdict: (r, v) => word(v)};
  for (const facet in FACETS) values[facet] ??= r => r[facet];
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
    const a = missed(l.row, l.verdict), b = l.other ? missed(l.other, l.verdictB) : null;
    l.passes = a === "" || b === "";
    if (l.passes) passing.push(l);
    else {
      if (a) bump(only, a);
      if (b && b !== a) bump(only, b);
    }
    if (a !== null || b !== null)
      for (const name of names) {
        const value = a === "" || a === name ? values[name](l.row, l.verdict) : undefined;
        const other = b === "" || b === name ? values[name](l.other, l.verdictB) : undefined;
        if (value !== undefined) bump(counts[name], value);
        if (other !== undefined && other !== value) bump(counts[name], other);
      }
    if (state.compare !== "judge")
      for (const v of l.row.verdicts) {     // another judge brings other verdicts, so each is tried
        const w = l.other && of(l.other, v.judge);
        if (others.every(u => u.holds(l.row, v)) || (w && others.every(u => u.holds(l.other, w)))) bump(counts.judge, v.judge);
      }
  }
  return {counts, only, passing};
}

function apply() {
  const start = performance.now(), used = filters(), result = pass(used);
  const shown = result.passing.filter(l => l.passes = !state.compare || inPair[state.pairs](l));
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
