// Counts and rates

function summarise(shown, passing) {
  const what = state.compare ? "pairs" : "rows", items = new Set(shown.map(l => itemOf.get(l.row))).size, box = $("summary");
  box.replaceChildren(span("", make("b", {}, number(shown.length)),
    ` of ${number(listed.length)} ${what} · ${number(items)} item${items === 1 ? "" : "s"}`));
  for (const [field, name] of state.compare ? [["outcome", "A fails "], ["outcomeB", "B fails "]] : [["outcome", "failures "]]) {
    const n = {failed: 0, right: 0, unscored: 0};
    for (const l of shown) n[l[field]]++;
    box.append(span("", name, make("b", {}, share(n.failed, n.failed + n.right)), ` · ${number(n.unscored)} unscored`));
  }
  if (items < shown.length)
    box.append(span("soft", `Intervals${state.compare ? " and p" : ""} take ${what} as independent; several share an item.`));
  const used = [...new Set(shown.map(l => l.verdict ? `${l.row.paper} ${l.verdict.judge}` : ""))].filter(key => cards.has(key));
  if (used.length <= 2) for (const key of used) box.append(span("soft", "judge ", bdi(key), ": ", bdi(cards.get(key))));
  $("pairs").hidden = !state.compare;
  if (!state.compare) return;
  const n = Object.fromEntries(Object.keys(PAIRS).map(key => [key, passing.filter(inPair[key]).length]));
  const right = passing.filter(l => l.outcome === "right" && l.outcomeB === "right").length;
  const lost = passing.length - right - n.both - n.a - n.b, p = mcnemar(n.a, n.b);
  const cells = (head, ...texts) => make("tr", {}, make("th", {}, head), ...texts.map(t => make("td", {}, t)));
  const choices = Object.entries(PAIRS).map(([key, name]) => button(() => {
    state.pairs = key;
    change();
    $("pairs").querySelector("[aria-pressed=true]").focus();
  }, `${name} (${number(n[key])})`, {"aria-pressed": String(state.pairs === key)}));
  $("pairs").replaceChildren(make("div", {role: "group", "aria-label": "which pairs"}, ...choices),
    make("table", {}, make("tr", {}, ...["pairs", "B right", "B wrong"].map(t => make("th", {}, t))),
      cells("A right", number(right), number(n.b)), cells("A wrong", number(n.a), number(n.both))),
    make("p", {}, `One or both unscored: ${number(lost)}. McNemar’s exact p`,
      n.a + n.b ? p < 0.0001 ? " < 0.0001." : ` = ${p.toFixed(4)}.` : ": no pair is right on one side only.",
      span("soft", "A pair agrees in all but what is compared; filters hold for a pair if they hold on either side.")));
}

function nothing(shown, {only, passing}, used) {
  $("nothing").hidden = shown.length > 0;
  const [name, n] = [...only].sort((x, y) => y[1] - x[1])[0] ?? [];
  const known = {differs: "judge differs from human", outcome: OUTCOMES[state.outcome]};
  $("nothing").replaceChildren(make("b", {}, "Nothing matches. "),
    passing.length ? `The tightest filter is “${PAIRS[state.pairs]}”: ${number(passing.length)} pairs match without it. `
      : name ? `The tightest filter is “${known[name] ?? name}”: ${number(n)} match without it. `
      : used.length ? "No single filter alone is the reason. "
      : state.compare ? "A and B meet in no pair. " : "The file holds no rows. ",
    button(clear, "Clear filters"));
}
