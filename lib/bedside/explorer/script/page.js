/* The failure explorer. Every text of the document is hostile: it reaches the page as text nodes only.

   The files of this folder are the body of one function, in the order of SCRIPT in explorer/__init__.py. A *line* is
   what the table shows: a row with the verdict that counts, or rows (or one row's verdicts) that are compared, its
   *sides*. `state` is the view; it is the same as the address's fragment. */
const FACETS = {paper: "p", section: "s", model: "m", category: "c", configuration: "g", judge: "j", verdict: "v",
  mark: "k"};
const SINGLE = {outcome: "o", search: "q", sort: "sort", compare: "x", a: "a", b: "b", pairs: "w", id: "id"};
const OUTCOMES = {failed: "✗ failed", right: "✓ right", unscored: "– unscored"};
const COMPARED = {"": "nothing", models: "all models", model: "two models", source: "two of any kind", judge: "two judges",
  configuration: "two configurations"};
const PAIRS = {"": "all pairs", both: "both wrong", a: "only A wrong", b: "only B wrong", differ: "they disagree"};
const MISSED = {"": "all items", all: "all fail", some: "some fail", none: "none fails"};
const BY = {model: "models", rules: "rules", person: "people", written: "written answers"};
const MATCHES = {matched: "● matched", missed: "○ missed", spurious: "✕ spurious"};
const narrow = matchMedia("(max-width: 50rem)"), wide = matchMedia("(min-width: 70rem)");      // as in explorer.css
const state = {differs: false, disagree: false, ...Object.fromEntries(Object.keys(FACETS).map(f => [f, new Set()])),
  ...Object.fromEntries(Object.keys(SINGLE).map(k => [k, ""]))};
const timings = [];                 // milliseconds of each apply, for the benchmark
