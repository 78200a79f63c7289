// A rater's page: one item after the other, by keyboard, mouse or touch.
const TOO_SOON_MS = 250;      // nobody has read an item by then: a key pressed twice must not label the next one
const REFUSALS = [["u", "undecided", "can't decide"], ["w", "faulty", "the item is faulty"]];
const OFFERED = {values: about.choices, type: [...about.types, ...about.labels], refused: REFUSALS};
const many = {values: about.several, type: about.labels.length > 0, refused: false};      // whether several may hold
const instant = !about.several && !about.spans_for && !OFFERED.type.length && !about.reason_for.length && !about.source_for.length;
const queue = [...items], later = new Set(), box = $("box"), material = $("material");
let at = 0, item, feedback = null, entry, begun, soon = 0, spent = 0, since = null;      // item: on screen, null: all done

// ---- the page

const focus = () => box.focus({preventScroll: true});
function press(key, words, does, more = {}) {
  const made = button(() => { does(); if (document.activeElement === made) focus(); }, "", more);
  made.append(make("kbd", {}, key), ` ${words}`);
  made.onmousedown = event => event.preventDefault();      // what is selected stays so
  return made;
}
const buttons = {}, groups = {};
for (const [kind, label] of Object.entries({values: about.question, type: "type", refused: "or decline to label"})) {
  buttons[kind] = OFFERED[kind].map(([key, value, words]) => [value, press(key, words, () => choose(kind, value))]);
  groups[kind] = make("div", {className: `choices ${kind}`, role: "group", ariaLabel: label}, ...buttons[kind].map(b => b[1]));
}
const field = label => make("textarea", {rows: 1, dir: "auto", ariaLabel: label});
const reason = field("reason"), source = field("source consulted"), hint = span("soft");
const markButton = press("s", "mark the selection", mark), marked = make("ol", {className: "marked", ariaLabel: "marked spans"});
const saving = press("Enter", "save", save, {className: "save"}), back = press("b", "back", goBack), put = press("n", "not now", skip);
$("form").append(make("p", {className: "question"}, about.question), groups.values, groups.type, markButton, marked, groups.refused,
  reason, source);
$("bottom").append(saving, back, put, hint);

const KEYS = [
  ...Object.entries(OFFERED).flatMap(([kind, list]) => list.map(([key, value, words]) => [[key], words, () => choose(kind, value)])),
  ...about.spans_for ? [[["ArrowRight", "ArrowLeft", "Home", "End"], "move in the answer, with Shift select more", move],
    [["s"], "mark the selection; a mouse's selection is marked at once, and a click on a mark removes it", mark],
    [["x"], "remove the last mark", () => spans.marks.length && unmark(spans.marks.length - 1)]] : [],
  [["Enter"], "save and go on, also from the reason (Shift and Enter: a new line)", save],
  [["b", "Backspace"], "back to the previous item, to correct it", goBack],
  [["n"], "not now: put the item off to the end, once", skip],
  [["r"], "write a reason; Escape leaves the field", () => reason.focus()],
  ...about.source_for.length ? [[["o"], "name the source; Escape leaves the field", () => source.focus()]] : [],
  [["ArrowDown", "ArrowUp", "PageDown", "PageUp"], "scroll", ({key}) =>
    material.scrollBy({top: (key.startsWith("Page") ? material.clientHeight - 40 : 60) * (key.endsWith("Down") ? 1 : -1)})],
  [["?"], "show or hide these keys", () => { $("keys").open = !$("keys").open; }],
];

const section = (label, ...children) => make("section", {}, make("p", {className: "heading"}, bdi(label)), ...children);
const list = texts => make("ul", {}, ...texts.map(t => make("li", {}, text(t))));
const block = b => section(b.label, ...b.kind === "dialogue" ? b.turns.flatMap(t => [make("b", {}, bdi(t.who)), text(t.text)])
  : [b.kind === "list" ? list(b.entries) : text(b.text)]);
const opinion = (o, i) => section(`Rater ${i + 1}`, make("p", {className: "said"}, bdi(o.said.join("; ") || "none of them")),
  list(o.spans), text(o.reason || "(no reason given)"), text(o.source && `Source: ${o.source}`));

// ---- an item

function next() {
  const open = i => !given.has(name(queue[i])), all = [...queue.keys()];
  at = [...all.slice(at), ...all.slice(0, at)].find(open) ?? queue.length;
  show();
}

function show() {
  const lesson = data.training.find(t => !trained.has(t.id));
  item = lesson ?? queue[at] ?? null;
  const before = lesson ? feedback?.given : item && given.get(name(item)), short = " The reply was truncated at its limit. Judge the text that is shown.";
  entry = {values: new Set(before?.values), type: new Set(before?.type), refused: new Set(before?.refused ? [before.refused] : [])};
  reason.value = before?.reason ?? "";
  source.value = before?.source ?? "";
  if (item) beginSpans(item.answer.text, before?.spans ?? []);
  material.replaceChildren(...item ? [make("div", {}, ...item.before.map(block)), make("div", {},
    section(item.answer.label, ...item.cut ? [soft(short)] : [], answer), ...item.after.map(block))] : closing());
  material.scrollTop = 0;
  $("opinions").replaceChildren(...(item?.opinions ?? []).map(opinion));
  $("feedback").replaceChildren(...feedback ? [section(feedback.right ? "Right" : "Not the expected answer, which is",
    list(item.expected), text(item.why))] : []);
  $("feedback").className = feedback?.right ? "right" : "wrong";
  $("form").hidden = !item || Boolean(feedback);
  back.hidden = put.hidden = Boolean(lesson);
  saving.lastChild.textContent = feedback ? " go on" : " save";
  if (box.contains(document.activeElement)) focus();
  [spent, since] = [0, document.hidden ? null : performance.now()];
  clearTimeout(soon);
  soon = setTimeout(() => { soon = 0; box.ariaBusy = false; }, TOO_SOON_MS);
  box.ariaBusy = true;
  draw();
  begun = entered();
}

const refusing = () => done().filter(i => given.get(name(i)).refused).length;
function closing() {
  const n = items.length, told = `All ${n} are ${about.settles ? "settled" : "done"}: ${n - refusing()} labelled, ${refusing()} refused.`;
  return [text(`${told} Thank you. Save the labels as a file with the button above, and send it to the person who gave you this page.`),
    text(about.closing)];
}

const entered = () => JSON.stringify([...Object.values(entry).map(set => [...set]), reason.value, source.value, markedTexts()]);
const marking = () => Boolean(entry.values.has(about.spans_for) && !feedback);
const needed = values => !entry.refused.size && values.some(value => entry.values.has(value));
const shut = () => soon || !item || feedback;

function lacks() {                           // what the label lacks, in words
  const keys = list => list.map(o => o[0]).join(", "), said = reason.value.trim();
  if (entry.refused.size) return said ? "" : entry.refused.has("faulty") ? "say what is wrong with the item" : "say why it can't be decided";
  if (!about.several && !entry.values.size) return `choose one of ${keys(about.choices)}`;
  if (marking() && !entry.type.size) return `choose a type: ${keys(about.types)}`;
  if (marking() && !spans.marks.length) return "mark at least one place: select it with the mouse, or → ← and Shift, then s";
  if (needed(about.reason_for) && !said) return "give a reason (r)";
  return needed(about.source_for) && !source.value.trim() ? "name the source consulted (o)" : "";
}

function draw() {
  const training = data.training.indexOf(item), n = done().length, refused = refusing();
  $("count").textContent = training >= 0 ? `training ${training + 1} of ${data.training.length}`
    : `${n} of ${items.length}${about.settles ? " settled" : ""}${refused ? `, ${refused} refused` : ""}`;
  Object.assign($("bar"), {max: items.length, value: n});
  for (const kind in buttons) for (const [value, b] of buttons[kind]) b.ariaPressed = entry[kind].has(value);
  groups.type.hidden = !about.labels.length && !marking();
  markButton.hidden = marked.hidden = !marking();
  saving.hidden = !item || (instant && !entry.refused.size && !feedback);
  source.hidden = !needed(about.source_for);
  reason.required = Boolean(entry.refused.size || needed(about.reason_for));
  reason.placeholder = `reason (${reason.required ? "needed" : "optional"}; r, Escape)`;
  source.placeholder = "source that you consulted (o, Escape)";
  drawSpans();
  marked.replaceChildren(...markedTexts().map((words, i) => make("li", {}, span("text", words), " ",
    button(() => { unmark(i); focus(); }, "×", {ariaLabel: `remove span ${i + 1}`}))));
  tellHint();
}

function tellHint() {
  hint.textContent = !item ? "" : feedback ? "read the feedback; Enter goes on" : instant && !entry.refused.size
    ? "the number alone saves and goes on" : lacks() || "Enter saves and goes on";
}

function say(words, fault = false) {
  $("status").textContent = words;
  $("status").className = fault ? "fault" : "";
}

function choose(kind, value) {
  if (shut()) return;
  if (kind === "type" && about.types.length && !marking()) return say(`first choose ${about.spans_for}`, true);
  const had = entry[kind].has(value);
  for (const other in entry) if ((other === "refused") !== (kind === "refused")) entry[other].clear();
  if (!many[kind]) entry[kind].clear();
  if (had && (many[kind] || kind === "refused")) entry[kind].delete(value); else entry[kind].add(value);
  draw();
  if (entry.refused.size) reason.focus();
  if (kind === "values" && instant) save();
}

// ---- saving

function clock() {                           // counts only while the page can be seen
  if (since !== null) spent += performance.now() - since;
  since = document.hidden ? null : performance.now();
}

function save() {
  if (soon || !item) return;
  say("");
  if (feedback) {
    keep({training: item.id, right: feedback.right});
    feedback = null;
    return next();
  }
  clock();
  const fault = lacks(), type = about.labels.length || marking() ? OFFERED.type.map(o => o[1]).filter(v => entry.type.has(v)) : [];
  if (fault) return say(`NOT saved: ${fault}`, true);
  const label = {values: [...entry.values], type, spans: marking() ? markedTexts() : [], reason: reason.value,
    source: needed(about.source_for) ? source.value : "", refused: [...entry.refused].join(), seconds: spent / 1000};
  if (item.right) {
    const place = s => placeOf(item.answer.text, s), same = k => label[k].join("; ") === item.right[k].join("; ");
    const touched = item.right.spans.map(place).every(r => touching(label.spans.map(place), r).length);
    feedback = {right: same("values") && same("type") && touched, given: label};
    return show();
  }
  const again = given.has(name(item));
  keep({id: item.id, again: item.again, ...label});
  if (!full) say(again ? "saved again" : `saved ${done().length}`);
  next();
}

function skip() {
  if (soon || !item || item.right) return;
  say("");
  if (given.has(name(item))) return next();
  if (later.has(name(item))) return say("it was put off once already: label it, or decline", true);
  later.add(name(item));
  queue.splice(at, 1);
  const repeat = item.again ? -1 : queue.findIndex(i => i.id === item.id && i.again && !given.has(name(i)));
  const last = repeat < 0 ? [] : queue.splice(repeat, 1), apart = last.length * Math.min(5, (queue.length - at) >> 1);
  queue.splice(queue.length - apart, 0, item);      // its repetition still comes after it, and after others
  queue.push(...last);
  next();
}

function goBack() {
  if (soon || item?.right) return;
  at = Math.max(at - 1, 0);
  say("");
  show();
}

// ---- before the first item: consent, and questions about the rater, none of which needs an answer

function enter() {
  const agreed = make("input", {type: "checkbox"}), {consent, questions} = data.entrance;
  const asked = questions.map(q => [q, make("select", {}, ...q.answers.map(a => make("option", {selected: a === q.given}, a)))]);
  const begin = button(() => {
    if (!agreed.checked) return say("nothing is shown without your consent", true);
    keep({entrance: Object.fromEntries(asked.map(([q, select]) => [q.name, select.value]))});
    say("");
    start();
  }, "begin", {className: "save"});
  $("door").append(...consent.split("\n\n").map(t => text(t)), asked.length ? section("About you (optional)") : "",
    ...asked.map(([q, select]) => make("p", {}, make("label", {}, `${q.question} `, select))),
    make("p", {}, make("label", {}, agreed, " I have read this and agree to take part.")), begin);
}

function start() {
  for (const id of ["material", "bottom", "aside"]) $(id).hidden = false;
  $("door").hidden = true;
  next();
  focus();
}

// ---- bringing it together

$("guide").append(make("p", {}, about.guide), make("ul", {}, ...about.examples.map(([met, label, why]) =>
  make("li", {}, `${met} → `, make("b", {}, label), `: ${why}`))));
$("keys").append(make("dl", {}, ...KEYS.flatMap(([keys, words]) => [
  make("dt", {}, ...keys.map(key => make("kbd", {}, key.replace("Arrow", "")))), make("dd", {}, words)])));
$("file").onclick = saveFile;
for (const f of [reason, source]) f.oninput = tellHint;
document.addEventListener("visibilitychange", clock);
box.addEventListener("keydown", event => {
  if (material.hidden || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === reason || event.target === source) {
    if (event.key === "Escape") focus();
    if (event.key !== "Enter" || event.shiftKey) return;
  }
  const found = KEYS.find(([keys]) => keys.includes(event.key));
  if (!found || (event.target.tagName === "BUTTON" && [" ", "Enter"].includes(event.key))) return;
  event.preventDefault();
  if (!event.repeat || /^(Arrow|Page)/.test(event.key)) found[2](event);
});
addEventListener("storage", ({key}) => {     // of another tab; what is half entered here stays
  if (!key?.startsWith(store)) return;
  const open = item && !item.right && !given.has(name(item)), idle = item !== undefined && entered() === begun;
  read();
  note();
  if (idle && open && given.has(name(item))) next(); else if (idle) show(); else if (item !== undefined) draw();
});
addEventListener("beforeunload", event => { if (full && lacking()) event.preventDefault(); });
for (const line of items) if (line.given) given.set(name(line), line.given);
read();
note();
if (data.entrance) enter(); else start();
