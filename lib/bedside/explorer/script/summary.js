// Counts and rates. A rate never mixes sections, nor the replies of models, rules, people and written answers.

// Whether the shown rows were chosen by their outcome or by a mark, so that a rate would mislead.
const byOutcome = () => state.outcome || state.differs || state.disagree || state.verdict.size > 0 || state.mark.size > 0;
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

const points = x => (100 * x).toFixed(1).replace(/^-(?=[0.]*$)/, "");     // a zero has no sign
const percent = x => `${points(x)}%`;
const limitsOf = ({low, high}) => isNaN(low) ? "no interval: fewer than ten units" : [low, high].map(points).join(", ");
const rateOf = r => r.n ? `${percent(r.value)} [${limitsOf(r)}]` : "none scored";
const countOf = r => `${number(r.k)} of ${number(r.n)}`;
const kinds = by => by.split(" and ").map(kind).join(" and ");

function tested({lines}) {                  // p that A and B fail alike, from the pairs with both scored
  const both = lines.map(([[row, a], [, b]]) => [failing(a), failing(b), row.unit]).filter(pair => !pair.includes(null));
  const p = flips(both.map(([a, b, unit]) => [a - b, unit]));
  return {p: p < 0.0001 ? "< 0.0001" : `= ${p.toFixed(4)}`, repeat: new Set(both.map(pair => pair[2])).size < both.length};
}

/* One rate over several sections would mix their questions, so their range is shown instead. */
function rangeOf(rates) {
  if (rates.length === 1) return rateOf(rates[0]);
  const values = rates.filter(r => r.n).map(r => r.value).sort((x, y) => x - y), last = values.length - 1;
  if (last < 1) return `${last ? "none scored" : percent(values[0])} in ${last + 1} of ${rates.length} sections`;
  return `${percent(values[0])} to ${percent(values[last])} in ${rates.length} sections`;
}

const inPairs = () => state.compare && state.compare !== "models";
const ofWhom = (names, by) => names.size === 1 ? bdi([...names][0]) : `${number(names.size)} ${kinds(by)}`;

function tableLine(parts, studies) {        // of groups that are one line: those of a study, or a single one
  const [{paper, section, by, rates}] = parts, names = new Set(parts.flatMap(g => [...g.names]));
  const [facet, value, shown] = studies ? ["paper", paper, papers.get(paper) ?? paper] : ["section", section, section || "(none)"];
  const only = () => {                      // what lies behind the line
    state[facet] = new Set([value]);
    change();
    $("main").focus();
  };
  const cell = (...words) => make("td", {className: "count"}, ...words), replies = total(parts.map(g => g.lines.length));
  const sums = rates.map((_, i) => ({k: total(parts.map(g => g.rates[i].k)), n: total(parts.map(g => g.rates[i].n))}));
  const head = make("th", {scope: "row"}, button(only, bdi(shown), {className: "link"}));
  return make("tr", {}, head, make("td", {}, ofWhom(names, by)), ...sums.flatMap((sum, i) => [cell(countOf(sum)), cell(rangeOf(parts.map(g => g.rates[i])))]),
    cell(sums.map(({n}) => number(replies - n)).join(", ")),
    ...(inPairs() ? [cell(parts.length > 1 ? "" : tested(parts[0]).p.replace("= ", ""))] : []));
}

function tabled(list) {                     // groups as a table; of several studies each study's are one line
  const studies = new Set(list.map(g => g.paper)).size > 1, together = new Map(), row = (...cells) => make("tr", {}, ...cells);
  for (const g of list) {
    const key = [g.paper, studies || g.section, g.by, state.compare === "models" && [...g.names]];
    entry(together, JSON.stringify(key), () => []).push(g);
  }
  const head = [studies ? "study" : "section", "of", ...(inPairs() ? ["A fails", "A, %", "B fails", "B, %"] : ["failed", "failed, %"]),
    "unscored", ...(inPairs() ? ["p"] : [])];
  return make("table", {}, make("thead", {}, row(...head.map(h => make("th", {scope: "col"}, h)))),
    make("tbody", {}, ...[...together.values()].map(parts => tableLine(parts, studies))));
}

function fold(id, list, words) {            // into its place below the counts
  $(id).hidden = !list.length;
  if (!list.length) return;
  $(id).firstElementChild.replaceChildren(words);
  $(id).lastElementChild.replaceChildren(tabled(list));
}

function counted(shown) {                   // outcomes without a rate
  const sides = inPairs() ? [0, 1] : [0];
  for (const i of sides) {
    const n = {failed: 0, right: 0, unscored: 0};
    for (const l of shown) for (const [, v] of inPairs() ? [l.sides[i]] : l.sides) n[outcome(v)]++;
    $("summary").append(span("", inPairs() ? `${"AB"[i]}: ` : "", Object.entries(n).map(([o, x]) => `${o} ${number(x)}`).join(" · ")));
  }
  $("summary").append(span("soft", `No rate, since rows were chosen by ${state.mark.size ? "mark" : "outcome"}.`));
}

function single(group, found) {             // a group's rates on a line, its place if there are others
  const elsewhere = found.some(g => g.paper !== group.paper || g.section !== group.section);
  const place = elsewhere ? [bdi(papers.get(group.paper) ?? group.paper), ", ", bdi(group.section), ": "] : [];
  group.rates.forEach((rate, i) => $("summary").append(span("", ...place,
    ...(inPairs() ? [`${"AB"[i]} fails `] : ["failures of ", ofWhom(group.names, group.by), " "]),
    make("b", {}, rate.n ? `${countOf(rate)} scored: ${rateOf(rate)}` : "none scored"),
    ` · ${number(group.lines.length - rate.n)} unscored`)));
}

function rates(shown) {                     // of one group on a line, of several in a table; those of no models folded
  const found = byOutcome() || state.pairs ? [] : groups(shown);
  const models = state.compare === "source" ? [] : found.filter(g => g.by === "model"), main = models.length ? models : found;
  const rest = found.slice(main.length), studies = new Set(main.map(g => g.paper)).size > 1, kept = new Map();
  const repeat = main.some(g => g.rates.some(r => r.units < r.n)) ? "Confidence intervals are over questions, patients or cases" : "";
  if (byOutcome() || state.pairs) counted(shown);
  if (main.length === 1) single(main[0], found);
  if (main.length === 1 && repeat) $("summary").append(span("soft", `${repeat}.`));
  fold("rates", main.length > 1 ? main : [], `Failures${models.length ? " of models" : ""} by ${studies ? "study" : "section"}` +
    (state.compare === "models" ? " and model" : "") + (repeat && `. ${repeat}`));
  for (const g of rest) kept.set(g.by, (kept.get(g.by) ?? 0) + g.lines.length);
  fold("others", rest, `Not by models: ${[...kept].map(([by, n]) => `${kinds(by)} ${number(n)}`).join(" · ")}`);
}

function summarise(shown, passing) {
  const what = !state.compare ? "rows" : state.compare === "models" ? "lines" : "pairs";
  const items = new Set(shown.map(l => itemOf.get(l.row))).size, box = $("summary");
  box.replaceChildren(span("", make("b", {}, number(shown.length)),
    ` of ${number(listed.length)} ${what} · ${number(items)} item${items === 1 ? "" : "s"}`));
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

const missing = (passing, n) => [soft(`Without a scored reply: ${number(passing.length - n.all - n.some - n.none)}. `,
  "Each line is one item under one configuration. A filter keeps a line if any of its models passes.")];

function crossed(passing, n) {              // pairs by both outcomes, and their test if they are of one kind
  const right = passing.filter(l => l.outcome === "right" && l.outcomeB === "right").length;
  const lost = passing.length - right - n.both - n.a - n.b, found = groups(passing), many = found.length > 1;
  const cells = (head, ...texts) => make("tr", {}, make("th", {}, head), ...texts.map(t => make("td", {}, t)));
  const test = found.length === 1 && tested(found[0]);
  const said = byOutcome() ? "No test, since pairs were chosen by outcome." : many ? "No test across several studies, sections or kinds of replies."
    : n.a + n.b === 0 ? "No pair is right on one side only."
    : `${test.repeat ? "Exact paired permutation test over questions, cases or patients" : "Exact McNemar test"}: p ${test.p}.`;
  return [many ? "" : make("table", {}, make("tr", {}, ...["pairs", "B right", "B wrong"].map(t => make("th", {}, t))),
    cells("A right", number(right), number(n.b)), cells("A wrong", number(n.a), number(n.both))),
  make("p", {}, `${many ? `Both right: ${number(right)}. ` : ""}One or both unscored: ${number(lost)}. ${said}`,
    span("soft", "The two sides of a pair differ only in what is compared. A filter keeps a pair if either side passes."))];
}

function nothing(shown, {only, passing}, used) {
  $("nothing").hidden = shown.length > 0;
  const [name, n] = [...only].sort((x, y) => y[1] - x[1])[0] ?? [];
  const known = {differs: "judge differs from human", disagree: "judges disagree", outcome: OUTCOMES[state.outcome]};
  $("nothing").replaceChildren(make("b", {}, "Nothing matches. "),
    passing.length ? `The tightest filter is “${choices()[state.pairs]}”: ${number(passing.length)} match without it. `
      : name ? `The tightest filter is “${known[name] ?? name}”: ${number(n)} match without it. `
      : used.length ? "No single filter is the reason. "
      : state.compare === "models" ? "There are no replies of models. "
      : state.compare ? "No pair has both A and B. " : "The file holds no rows. ",
    button(clear, "Clear filters"));
}
