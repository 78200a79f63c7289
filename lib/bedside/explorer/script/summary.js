// Counts and rates. A rate is of one kind: of a study's section, and of models, rules, people or written answers alone.

// What is shown is chosen by how it was judged, or by who read it.
const byOutcome = () => state.outcome || state.differs || state.verdict.size > 0 || state.mark.size > 0;
const failing = v => typeof v?.right === "boolean" ? Number(!v.right) : null;

/* Lines by study, section, by whom their replies are, and, beside all models, the model: [{paper, section, by, names, lines,
   rates}, ...], those of models first. `rates` has one share, of a pair A's and B's. */
function groups(lines) {
  const found = new Map(), many = state.compare === "models";
  const add = (key, by, sides) => {
    const [[row]] = sides, group = entry(found, key,
      () => ({paper: row.paper, section: row.section, by, names: new Set(), lines: [], hits: [[], []]}));
    group.lines.push(sides);
    for (let i = 0; i < sides.length; i++) {
      const hit = failing(sides[i][1]);
      group.names.add(sides[i][0].model);
      if (hit !== null) group.hits[i].push([hit, row.unit]);
    }
  };
  for (const {row, other, sides} of lines)
    if (many) for (const side of sides) add(`${kindOf.get(side[0])} ${side[0].model}`, side[0].by, [side]);
    else if (other && other.by !== row.by) add(`${kindOf.get(row)} ${other.by}`, `${row.by} and ${other.by}`, sides);
    else add(kindOf.get(row), row.by, sides);
  for (const group of found.values()) group.rates = group.hits.slice(0, state.compare && !many ? 2 : 1).map(share);
  return [...found.values()].sort((x, y) => placeOf(x.by) - placeOf(y.by));
}

const percent = x => `${(100 * x).toFixed(1)}%`;
const limitsOf = r => isNaN(r.low) ? "[no interval: one unit]" : `[${[r.low, r.high].map(x => (100 * x).toFixed(1)).join(", ")}]`;
const rateOf = r => r.n ? `${percent(r.value)} ${limitsOf(r)}` : "none scored";
const countOf = r => `${number(r.k)} of ${number(r.n)}`;
const kinds = by => by.split(" and ").map(kind).join(" and ");
const several = (n, one, many = one + "s") => `${number(n)} ${n === 1 ? one : many}`;

function tested({lines}) {                  // p that A and B fail alike, from the pairs with both scored
  const both = lines.map(([[row, a], [, b]]) => [failing(a), failing(b), row.unit]).filter(pair => !pair.includes(null));
  const p = flips(both.map(([a, b, unit]) => [a - b, unit]));
  return {p: p < 0.0001 ? "< 0.0001" : `= ${p.toFixed(4)}`, repeat: new Set(both.map(pair => pair[2])).size < both.length};
}

/* A rate of several sections would mix what they ask: their range stands in its place. */
function rangeOf(rates) {
  const values = rates.filter(r => r.n).map(r => r.value).sort((x, y) => x - y);
  if (rates.length === 1) return rateOf(rates[0]);
  if (values.length < 2) return `${values.length ? percent(values[0]) : "none scored"} in ${values.length} of ${rates.length} sections`;
  return `${percent(values[0])} to ${percent(values.at(-1))} in ${rates.length} sections`;
}

function tabled(list) {                     // groups as a table; of several studies a line for each, which leads to its sections
  const studies = new Set(list.map(g => g.paper)).size > 1, ofLine = new Map(), pair = state.compare && state.compare !== "models";
  for (const g of list)
    entry(ofLine, JSON.stringify([g.paper, studies || g.section, g.by, state.compare === "models" && [...g.names]]), () => []).push(g);
  const cell = (...words) => make("td", {className: "count"}, ...words);
  const lines = [...ofLine.values()].map(parts => {
    const [{paper, section, by, rates}] = parts, names = new Set(parts.flatMap(g => [...g.names]));
    const [facet, value, shown] = studies ? ["paper", paper, papers.get(paper) ?? paper] : ["section", section, section || "(none)"];
    const only = button(() => { state[facet] = new Set([value]); change(); $("main").focus(); }, bdi(shown), {className: "link"});
    const sums = rates.map((_, i) => ["k", "n"].map(key => total(parts.map(g => g.rates[i][key]))));
    const replies = total(parts.map(g => g.lines.length));
    return make("tr", {}, make("th", {scope: "row"}, only), make("td", {}, names.size === 1 ? bdi([...names][0]) : several(names.size, "", kinds(by))),
      ...rates.flatMap((_, i) => [cell(countOf({k: sums[i][0], n: sums[i][1]})), cell(rangeOf(parts.map(g => g.rates[i])))]),
      cell(sums.map(([, n]) => number(replies - n)).join(", ")),
      ...(pair ? [cell(parts.length > 1 ? "" : tested(parts[0]).p.replace("= ", ""))] : []));
  });
  const head = [studies ? "study" : "section", "of", ...(pair ? ["A fails", "A, %", "B fails", "B, %"] : ["failed", "failed, %"]), "unscored",
    ...(pair ? ["p"] : [])];
  return make("table", {}, make("thead", {}, make("tr", {}, ...head.map(h => make("th", {scope: "col"}, h)))), make("tbody", {}, ...lines));
}

function fold(id, list, words) {            // into its place below the counts
  $(id).hidden = !list.length;
  if (!list.length) return;
  $(id).firstElementChild.replaceChildren(words);
  $(id).lastElementChild.replaceChildren(tabled(list));
}

function rates(shown) {                     // of one group on a line, of several in a table; those of no models folded
  const box = $("summary"), sides = state.compare && state.compare !== "models" ? ["A fails ", "B fails "] : ["failures of "];
  if (byOutcome() || state.pairs) {
    sides.forEach((side, i) => {
      const n = {failed: 0, right: 0, unscored: 0};
      for (const l of shown) for (const [, v] of sides.length > 1 ? [l.sides[i]] : l.sides) n[outcome(v)]++;
      box.append(span("", sides.length > 1 ? `${side[0]}: ` : "", Object.entries(n).map(([o, x]) => `${o} ${number(x)}`).join(" · ")));
    });
    box.append(span("soft", `Chosen by ${state.mark.size ? "mark" : "outcome"}: no rate.`));
    return ["rates", "others"].forEach(id => fold(id, []));
  }
  const found = groups(shown), models = found.filter(g => g.by === "model"), main = models.length ? models : found;
  const [one] = main, rest = found.slice(main.length), where = new Set(found.map(g => JSON.stringify([g.paper, g.section])));
  if (main.length === 1)
    sides.forEach((side, i) => box.append(span("", ...(where.size > 1 ? [bdi(papers.get(one.paper) ?? one.paper), ", ", bdi(one.section), ": "] : []),
      side, ...(sides.length > 1 ? [] : [one.names.size === 1 ? bdi([...one.names][0]) : several(one.names.size, "", kinds(one.by)), " "]),
      make("b", {}, one.rates[i].n ? `${countOf(one.rates[i])} scored: ${rateOf(one.rates[i])}` : "none scored"),
      ` · ${number(one.lines.length - one.rates[i].n)} unscored`)));
  const repeat = main.some(g => g.rates.some(r => r.units < r.n)) && "Intervals by question, case or patient, which repeat";
  if (repeat && main.length === 1) box.append(span("soft", `${repeat}.`));
  const studies = new Set(main.map(g => g.paper)).size > 1;
  fold("rates", main.length > 1 ? main : [], `Failures${models.length ? " of models" : ""} by ${studies ? "study" : "section"}` +
    (state.compare === "models" ? " and model" : "") + (repeat ? `. ${repeat}` : ""));
  const counted = new Map();
  for (const g of rest) counted.set(g.by, (counted.get(g.by) ?? 0) + g.lines.length);
  fold("others", rest, `Not by models: ${[...counted].map(([by, n]) => `${kinds(by)} ${number(n)}`).join(" · ")}`);
}

function summarise(shown, passing) {
  const what = !state.compare ? "rows" : state.compare === "models" ? "lines" : "pairs";
  const items = new Set(shown.map(l => itemOf.get(l.row))).size, box = $("summary");
  box.replaceChildren(span("", make("b", {}, number(shown.length)), ` of ${number(listed.length)} ${what} · ${several(items, "item")}`));
  rates(shown);
  const used = [...new Set(shown.map(l => l.verdict ? `${l.row.paper} ${l.verdict.judge}` : ""))].filter(key => cards.has(key));
  if (used.length <= 2) for (const key of used) box.append(span("soft", "judge ", bdi(key), ": ", bdi(cards.get(key))));
  $("pairs").hidden = !state.compare;
  if (!state.compare) return;
  const n = Object.fromEntries(Object.keys(choices()).map(key => [key, passing.filter(chosenOf(key)).length]));
  const buttons = Object.entries(choices()).map(([key, name]) => button(() => {
    state.pairs = key;
    change();
    $("pairs").querySelector("[aria-pressed=true]").focus();
  }, `${name} (${number(n[key])})`, {"aria-pressed": String(state.pairs === key)}));
  $("pairs").replaceChildren(make("div", {role: "group", "aria-label": `which ${what}`}, ...buttons),
    ...(state.compare === "models" ? missing(passing, n) : crossed(passing, n)));
}

const missing = (passing, n) => [make("p", {}, span("soft", `Nothing scored: ${number(passing.length - n.all - n.some - n.none)}. A line is an item in a configuration, its models those ` +
  "scored there; filters hold for it if they hold for any."))];

function crossed(passing, n) {              // pairs by both outcomes, and their test if they are of one kind
  const right = passing.filter(l => l.outcome === "right" && l.outcomeB === "right").length;
  const lost = passing.length - right - n.both - n.a - n.b, found = groups(passing), test = found.length === 1 && tested(found[0]);
  const cells = (head, ...texts) => make("tr", {}, make("th", {}, head), ...texts.map(t => make("td", {}, t)));
  const many = found.length > 1, said = byOutcome() ? "Chosen by outcome: no p." : many ? "No p over several studies, sections or kinds." :
    n.a + n.b === 0 ? "No pair is right on one side only." :
    `${test.repeat ? "Exact p by flipping the signs of questions, cases or patients" : "McNemar’s exact p"} ${test.p}.`;
  return [many ? "" : make("table", {}, make("tr", {}, ...["pairs", "B right", "B wrong"].map(t => make("th", {}, t))),
    cells("A right", number(right), number(n.b)), cells("A wrong", number(n.a), number(n.both))),
  make("p", {}, `${many ? `Both right: ${number(right)}. ` : ""}One or both unscored: ${number(lost)}. ${said}`,
    span("soft", "A pair agrees in all but what is compared; filters hold for a pair if they hold on either side."))];
}

function nothing(shown, {only, passing}, used) {
  $("nothing").hidden = shown.length > 0;
  const [name, n] = [...only].sort((x, y) => y[1] - x[1])[0] ?? [];
  const known = {differs: "judge differs from human", outcome: OUTCOMES[state.outcome]};
  $("nothing").replaceChildren(make("b", {}, "Nothing matches. "),
    passing.length ? `The tightest filter is “${choices()[state.pairs]}”: ${number(passing.length)} match without it. `
      : name ? `The tightest filter is “${known[name] ?? name}”: ${number(n)} match without it. `
      : used.length ? "No single filter alone is the reason. "
      : state.compare === "models" ? "No model’s reply is here. " : state.compare ? "A and B meet in no pair. " : "The file holds no rows. ",
    button(clear, "Clear filters"));
}
