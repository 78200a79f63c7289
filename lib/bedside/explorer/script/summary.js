// Counts. Rates, intervals and tests are on the pages, computed once.

const SAME = ["paper", "section", "model", "configuration", "category"];      // said once where it is the same in all rows

function counted(shown) {
  const pairs = state.compare && state.compare !== "models";
  for (const i of pairs ? [0, 1] : [0]) {
    const n = {failed: 0, right: 0, unscored: 0};
    for (const l of shown) for (const [, v] of pairs ? [l.sides[i]] : l.sides) n[outcome(v)]++;
    const who = pairs ? [bdi([state.a, state.b][i]), ": "] : [];
    $("summary").append(span("", ...who, Object.entries(n).map(([o, x]) => `${o} ${number(x)}`).join(" · ")));
  }
}

function summarise(shown, passing) {
  const what = !state.compare ? "rows" : state.compare === "models" ? "lines" : "pairs";
  const items = new Set(shown.map(l => itemOf.get(l.row))).size, box = $("summary");
  box.replaceChildren(span("", make("b", {}, number(shown.length)),
    ` of ${number(listed.length)} ${what} · ${number(items)} item${items === 1 ? "" : "s"}`));
  counted(shown);
  const same = state.compare ? [] : SAME.filter(f => shown.length > 1 && shown[0][f] && shown.every(l => l[f] === shown[0][f]));
  if (same.length) box.append(span("soft", "all: ", ...same.flatMap((f, i) => [i ? ", " : "", bdi(shown[0][f])])));
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
    soft(`${state.compare === "models" ? "Each line is one item under one configuration. " : ""}A filter keeps ${what} of which any side passes.`));
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
