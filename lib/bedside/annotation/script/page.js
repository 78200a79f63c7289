// A rater's page: one item after the other, by keyboard, mouse or touch.
const TOO_SOON_MS = 250;      // nobody has read an item by then: a key pressed twice must not label the next one
const REFUSALS = [["u", "undecided", "can't decide"], ["w", "faulty", "the item is faulty"]];
const needs = about.reason_for.length + about.source_for.length > 0;
const instant = !about.several && !about.spans_for && !about.labels.length && !needs;      // the number key alone saves
const queue = [...items], later = new Set(), box = $("box");
let at = 0, item, agreed = !data.entrance, feedback = null;      // item: on screen, null when all is done
let chosen, type, refused, begun, soon = 0, spent = 0, since = null;

// ---- the page

const focus = () => box.focus({preventScroll: true});
function press(key, words, act, more = {}) {
  const made = button(() => { act(); if (document.activeElement === made) focus(); }, "", more);
  made.append(make("kbd", {}, key), ` ${words}`);
  made.addEventListener("mousedown", event => event.preventDefault());      // what is selected stays so
  return made;
}
const options = (list, act) => list.map(([key, value, words]) => [value, press(key, words, () => act(value))]);
const group = (label, buttons, name = "") =>
  make("div", {className: `choices ${name}`, role: "group", "aria-label": label}, ...buttons.map(b => b[1]));
const choices = options(about.choices, choose), types = options(about.types, pick);
const labels = options(about.labels, toggle), refusals = options(REFUSALS, refuse);
const field = (label, placeholder = "") => make("textarea", {rows: 1, dir: "auto", "aria-label": label, placeholder});
const reason = field("reason"), source = field("source consulted", "source that you consulted (o, Escape)");
const typed = group("type", types, "types"), beside = group("also", labels, "types");
const markButton = press("s", "mark the selection", mark), marked = make("ol", {className: "marked", "aria-label": "marked spans"});
const saving = press("Enter", "save", save, {className: "save"}), back = press("b", "back", goBack), put = press("n", "not now", skip);
const status = make("p", {className: "status", role: "status", ariaLive: "polite"}), hint = span("soft");
const form = make("div", {}, make("p", {className: "question"}, about.question), group(about.question, choices), beside, typed,
  markButton, marked, group("or decline to label", refusals, "refusals"), reason, source);
const material = make("div", {className: "material", tabIndex: 0, role: "region", ariaLabel: "item"});
const opinions = make("div", {className: "opinions"}), told = make("div", {ariaLive: "polite"});

const act = (list, words, does) => list.map(([key, value, name]) => [[key], words(name), () => does(value)]);
const KEYS = [
  ...act(about.choices, name => name, choose), ...act(about.types, name => `type ${name}`, pick),
  ...act(about.labels, name => `also: ${name}`, toggle), ...act(REFUSALS, name => `${name}: needs a reason`, refuse),
  ...about.spans_for ? [
    [["ArrowRight", "ArrowLeft"], "→ ← move a word in the answer, with Shift select more", move],
    [["Home", "End"], "first or last word", move],
    [["s"], "mark the selection; with a mouse, selecting marks at once, and a click on a mark removes it", mark],
    [["x"], "remove the last mark", () => spans.marks.length && unmark(spans.marks.length - 1)]] : [],
  [["Enter"], "save and go on, also from the reason field (Shift and Enter: a new line)", save],
  [["b", "Backspace"], "back to the previous item, to correct it", goBack],
  [["n"], "not now: put the item off to the end, once", skip],
  [["r"], "write a reason; Escape leaves the field", () => reason.focus()],
  ...about.source_for.length ? [[["o"], "name the source; Escape leaves the field", () => source.focus()]] : [],
  [["ArrowDown", "ArrowUp", "PageDown", "PageUp"], "scroll", event => {
    const by = event.key.startsWith("Page") ? material.clientHeight - 40 : 60;
    material.scrollBy({top: event.key.endsWith("Down") ? by : -by});
  }],
  [["?"], "show or hide these keys", () => { $("keys").open = !$("keys").open; }],
];
const SIGNS = {ArrowRight: "→", ArrowLeft: "←", ArrowDown: "↓", ArrowUp: "↑"};

const section = (label, ...children) => make("section", {}, make("p", {className: "heading"}, bdi(label)), ...children);
const list = texts => make("ul", {}, ...texts.map(t => make("li", {}, text(t))));
const block = b => section(b.label, ...b.kind === "dialogue" ? b.turns.flatMap(t => [make("b", {}, bdi(t.who)), text(t.text)])
  : [b.kind === "list" ? list(b.entries) : text(b.text)]);
const opinion = (o, i) => section(`Rater ${i + 1}`, make("p", {className: "said"}, ...o.said.length ? [bdi(o.said.join("; "))] : ["none of them"]),
  ...o.spans.length ? [list(o.spans)] : [], text(o.reason || "(no reason given)"), ...o.source ? [text(`Source: ${o.source}`)] : []);

// ---- an item

function next() {
  const open = i => !kept.given.has(name(queue[i])), all = [...queue.keys()];
  at = [...all.slice(at), ...all.slice(0, at)].find(open) ?? queue.length;
  show();
}

function show() {
  const lesson = data.training.find(t => !kept.trained.has(t.id));
  item = lesson ?? queue[at] ?? null;
  const before = lesson ? feedback?.given : item && kept.given.get(name(item));
  chosen = new Set(before?.values);
  type = new Set(before?.type);
  refused = before?.refused ?? "";
  reason.value = before?.reason ?? "";
  source.value = before?.source ?? "";
  if (item) beginSpans(item.answer.text, before?.spans ?? []);
  material.replaceChildren(...item ? [make("div", {}, ...item.before.map(block)),
    make("div", {}, section(item.answer.label, ...item.cut ? [soft("The reply was cut off at its length limit. Judge what is there.")] : [],
      answer), ...item.after.map(block))] : closing());
  material.scrollTop = 0;
  opinions.replaceChildren(...(item?.opinions ?? []).map(opinion));
  told.replaceChildren(...feedback ? [section(feedback.right ? "Right" : "Not the expected answer, which is",
    list(item.expected), text(item.why))] : []);
  told.className = feedback ? `feedback${feedback.right ? "" : " wrong"}` : "";
  form.hidden = !item || Boolean(feedback);
  back.hidden = put.hidden = Boolean(lesson);
  saving.lastChild.textContent = feedback ? " go on" : " save";
  if (box.contains(document.activeElement)) focus();
  spent = 0;
  since = document.hidden ? null : performance.now();
  clearTimeout(soon);
  soon = setTimeout(() => { soon = 0; box.ariaBusy = false; }, TOO_SOON_MS);
  box.ariaBusy = true;
  draw();
  begun = entered();
}

function closing() {
  const refused = done().filter(i => kept.given.get(name(i)).refused).length, n = items.length;
  const told = about.settles ? `All ${n} are settled` : `All ${n} are done`;
  return [text(`${told}: ${n - refused} labelled${refused ? `, ${refused} refused` : ""}. Thank you.`),
    text("The labels are in this browser. Save them as a file with the button below, and send it to whoever gave you this page."),
    ...about.closing ? [text(about.closing)] : []];
}

const entered = () => JSON.stringify([[...chosen], [...type], refused, reason.value, source.value, markedTexts()]);
const marking = () => Boolean(about.spans_for && chosen.has(about.spans_for) && !feedback);
const needed = values => !refused && values.some(value => chosen.has(value));
const shut = () => soon || !item || feedback;

function lacks() {                           // what the label lacks, in words
  const first = list => list.map(o => o[0]).join(", ");
  if (refused) return reason.value.trim() ? "" : refused === "faulty" ? "say what is wrong with the item" : "say why it can't be decided";
  if (!about.several && !chosen.size) return `choose one of ${first(about.choices)}`;
  if (marking() && !type.size) return `choose a type: ${first(about.types)}`;
  if (marking() && !spans.marks.length) return "mark at least one place: select it with the mouse, or → ← and Shift, then s";
  if (needed(about.reason_for) && !reason.value.trim()) return "give a reason (r)";
  return needed(about.source_for) && !source.value.trim() ? "name the source that you consulted (o)" : "";
}

function draw() {
  const training = data.training.findIndex(t => t.id === item?.id), n = done().length;
  const refusing = done().filter(i => kept.given.get(name(i)).refused).length;
  $("count").textContent = training >= 0 ? `training ${training + 1} of ${data.training.length}`
    : `${n} of ${items.length}${about.settles ? " settled" : ""}${refusing ? `, ${refusing} refused` : ""}`;
  Object.assign($("bar"), {max: items.length, value: n});
  const press = (buttons, on) => buttons.forEach(([value, b]) => { b.ariaPressed = on(value); });
  press(choices, value => chosen.has(value));
  press([...types, ...labels], value => type.has(value));
  press(refusals, value => refused === value);
  typed.hidden = markButton.hidden = marked.hidden = !marking();
  beside.hidden = !labels.length;
  saving.hidden = !item || (instant && !refused && !feedback);
  source.hidden = !needed(about.source_for);
  reason.required = Boolean(refused || needed(about.reason_for));
  reason.placeholder = `reason (${reason.required ? "needed" : "optional"}; r, Escape)`;
  drawSpans();
  marked.replaceChildren(...markedTexts().map((words, i) => make("li", {}, span("text", words), " ",
    button(() => { unmark(i); focus(); }, "×", {ariaLabel: `remove span ${i + 1}`}))));
  tellHint();
}

function tellHint() {
  const also = about.several ? "; numbers switch choices on and off" : labels.length ? "; letters switch labels on and off" : marking() ? "; s marks more" : "";
  hint.textContent = !item ? "" : feedback ? "read the feedback; Enter goes on" : instant && !refused ? "the number alone saves and goes on"
    : lacks() || `Enter saves and goes on${also}`;
}

function say(words, fault = false) {
  status.textContent = words;
  status.className = fault ? "status fault" : "status";
}

// ---- choosing

function choose(value) {
  if (shut()) return;
  refused = "";
  if (!about.several) chosen = new Set([value]);
  else if (!chosen.delete(value)) chosen.add(value);
  draw();
  if (instant) save();
}

function pick(value) {
  if (shut()) return;
  if (!marking()) return say(`first choose ${about.spans_for}`, true);
  type = new Set([value]);
  draw();
}

function toggle(value) {
  if (shut()) return;
  refused = "";
  if (!type.delete(value)) type.add(value);
  draw();
}

function refuse(value) {
  if (shut()) return;
  refused = refused === value ? "" : value;
  chosen.clear();
  type.clear();
  draw();
  if (refused) reason.focus();
}

// ---- saving

function clock() {                           // counts only while the page can be seen
  if (since !== null) spent += performance.now() - since;
  since = document.hidden ? null : performance.now();
}

function save() {
  if (soon || !item) return;
  if (feedback) {
    keep({training: item.id, right: feedback.right});
    feedback = null;
    say("");
    return next();
  }
  clock();
  const fault = lacks(), known = about.labels.map(l => l[1]).filter(value => type.has(value));
  if (fault) return say(`NOT saved: ${fault}`, true);
  const label = {values: [...chosen], type: refused ? [] : labels.length ? known : marking() ? [...type] : [],
    spans: marking() ? markedTexts() : [], reason: reason.value, source: needed(about.source_for) ? source.value : "", refused,
    seconds: spent / 1000};
  if (item.right) {
    const place = s => placeOf(item.answer.text, s), {right} = item, same = (a, b) => a.join("; ") === b.join("; ");
    const touched = right.spans.map(place).every(r => touching(label.spans.map(place), r).length);
    feedback = {right: same(label.values, right.values) && same(label.type, right.type) && touched, given: label};
    return show();
  }
  const again = kept.given.has(name(item));
  keep({id: item.id, again: item.again, ...label});
  say(kept.fault ? "" : again ? "saved again" : `saved ${done().length}`);
  next();
}

function skip() {
  if (soon || !item || item.right) return;
  say("");
  if (kept.given.has(name(item))) return next();
  if (later.has(name(item))) return say("it was put off once already; label it, or decline to", true);
  later.add(name(item));
  queue.splice(at, 1);
  const repeat = item.again ? -1 : queue.findIndex(i => i.id === item.id && i.again && !kept.given.has(name(i)));
  queue.push(repeat < 0 ? item : queue.splice(repeat, 1, item)[0]);      // it comes first now, and so is what counts
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
  const box = make("input", {type: "checkbox"}), {consent, questions} = data.entrance;
  const asked = questions.map(q => [q, make("select", {value: q.given}, ...q.answers.map(a => make("option", {selected: a === q.given}, a)))]);
  const begin = button(() => {
    if (!box.checked) return say("nothing is shown without your consent", true);
    keep({entrance: Object.fromEntries(asked.map(([q, select]) => [q.name, select.value]))});
    agreed = true;
    say("");
    start();
  }, "begin", {className: "save"});
  return [...consent ? consent.split("\n\n").map(t => text(t)) : [], ...asked.length ? [section("About you (optional)")] : [],
    ...asked.map(([q, select]) => make("p", {}, make("label", {}, `${q.question} `, select))),
    make("p", {}, make("label", {}, box, " I have read this and agree to take part.")), begin, status];
}

function start() {
  $("aside").hidden = !agreed;
  box.replaceChildren(...agreed ? [material, opinions, told, form, make("div", {className: "bottom"}, saving, back, put, hint), status]
    : enter());
  if (!agreed) return;
  next();
  focus();
}

// ---- bringing it together

$("guide").append(make("p", {}, about.guide), ...about.examples.length ? [make("ul", {}, ...about.examples.map(([met, label, why]) =>
  make("li", {}, `${met} → `, make("b", {}, label), `: ${why}`)))] : []);
$("keys").append(make("dl", {}, ...KEYS.flatMap(([keys, words]) => [
  make("dt", {}, ...keys.map(key => make("kbd", {}, SIGNS[key] ?? key))), make("dd", {}, words)])));
$("file").addEventListener("click", saveFile);
for (const f of [reason, source]) f.addEventListener("input", tellHint);
document.addEventListener("visibilitychange", clock);
box.addEventListener("keydown", event => {
  if (!agreed || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === reason || event.target === source) {
    if (event.key === "Escape") focus();
    if (event.key !== "Enter" || event.shiftKey) return;
  }
  const found = KEYS.find(([keys]) => keys.includes(event.key));
  if (!found || (event.target.tagName === "BUTTON" && [" ", "Enter"].includes(event.key))) return;
  event.preventDefault();
  if (!event.repeat || /^(Arrow|Page)/.test(event.key)) found[2](event);
});
addEventListener("storage", ({key}) => {     // another tab has kept something; what is half entered here stays
  if (!key?.startsWith(store)) return;
  const open = item && !item.right && !kept.given.has(name(item)), idle = agreed && entered() === begun;
  read();
  note();
  if (!agreed) return;
  if (idle && open && kept.given.has(name(item))) next(); else if (idle) show(); else draw();
});
addEventListener("beforeunload", event => { if (kept.fault && lacking()) event.preventDefault(); });
for (const line of items) if (line.given) kept.given.set(name(line), line.given);
read();
note();
start();
