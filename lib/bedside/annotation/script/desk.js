// Where items are labelled.

function desk({ model, root }) {
  const about = model.get("about");
  const needs = about.reason_for.length + about.source_for.length > 0;
  const instant = !about.several && !about.spans_for && !about.labels.length && !needs;      // the number key alone saves
  let item, chosen, type, refused, asked, soon, begun, waiting = false, spent = 0, since = null;

  // ---- the page

  const progress = element("span", { class: "count" });
  const bar = element("progress", { "aria-hidden": "true" });
  const material = element("div", { class: "material", tabindex: "0", role: "region", "aria-label": "item" });
  const answer = element("p", { class: "prose answer", dir: "auto" });
  const marked = element("ol", { class: "marked", "aria-label": "marked spans" });
  const feedback = element("div", { class: "result", "aria-live": "polite" });
  const reason = element("textarea", { rows: "1", dir: "auto", "aria-label": "reason" });
  const source = element("textarea", { rows: "1", dir: "auto", "aria-label": "source consulted",
    placeholder: "source that you consulted (o, Escape)" });
  const hint = element("span", { class: "hint" });
  const status = element("p", { class: "status", role: "status", "aria-live": "polite" });
  const spans = spansIn(answer, { wanted: () => open(), say, changed: () => draw() });
  const focus = () => root.focus({ preventScroll: true });
  const button = (key, text, act, name = "") => {
    const made = element("button", { type: "button", class: name }, element("kbd", {}, key), " ", text);
    made.addEventListener("mousedown", (event) => event.preventDefault());      // what is selected stays so
    made.addEventListener("click", () => { act(); if (document.activeElement === made) focus(); });
    return made;
  };
  const group = (label, buttons, name = "") =>
    element("div", { class: `choices ${name}`, role: "group", "aria-label": label }, ...buttons.map((b) => b[1]));
  const buttons = (given, act) => given.map(([key, value, text]) => [value, button(key, text, () => act(value))]);
  const choices = buttons(about.choices, choose), types = buttons(about.types, pick);
  const labels = buttons(about.labels, (value) => toggle(value)), refusals = buttons(REFUSALS, refuse);
  const typed = group("type", types, "types"), beside = group("also", labels, "types");
  const marking = button("s", "mark the selection", () => spans.mark());
  const keys = [
    ...about.choices.map(([key, value, text]) => [[key], text, () => choose(value)]),
    ...about.types.map(([key, value, text]) => [[key], `type ${text}`, () => pick(value)]),
    ...about.labels.map(([key, value, text]) => [[key], `also: ${text}`, () => toggle(value)]),
    ...REFUSALS.map(([key, value, text]) => [[key], `${text}: needs a reason`, () => refuse(value)]),
    ...(about.spans_for ? [
      [["ArrowRight", "ArrowLeft"], "→ ← move a word in the answer, with Shift select more", spans.move],
      [["Home", "End"], "first or last word", spans.move],
      [["s"], "mark the selection; with a mouse, selecting marks at once, and a click on a mark removes it", spans.mark],
      [["x"], "remove the last mark", () => { if (spans.count()) spans.remove(spans.count() - 1); }],
    ] : []),
    [["Enter"], "save and go on, also from the reason field (Shift and Enter: a new line)", () => save()],
    [["b", "Backspace"], "back to the previous item, to correct it", () => ask({ do: "back" })],
    [["n"], "not now: put the item off to the end, once", () => ask({ do: "skip" })],
    [["r"], "write a reason; Escape leaves the field", () => reason.focus()],
    ...(about.source_for.length ? [[["o"], "name the source; Escape leaves the field", () => source.focus()]] : []),
    [["ArrowDown", "ArrowUp", "PageDown", "PageUp"], "scroll", scroll],
    ...(about.examples.length ? [[["e"], "show or hide the examples", () => { examples.open = !examples.open; }]] : []),
    [["?"], "show or hide these keys", () => { help.hidden = !help.hidden; help.scrollIntoView({ block: "nearest" }); }],
  ];
  const names = { ArrowRight: "→", ArrowLeft: "←", ArrowDown: "↓", ArrowUp: "↑" };
  const help = element("dl", { class: "help" }, ...keys.flatMap(([pressed, text]) => [
    element("dt", {}, ...pressed.map((key) => element("kbd", {}, names[key] ?? key))), element("dd", {}, text)]));
  help.hidden = true;
  const saving = button("Enter", "save", () => save(), "save");
  const leaving = [button("b", "back", () => ask({ do: "back" })), button("n", "not now", () => ask({ do: "skip" }))];
  const examples = element("details", { class: "guide" }, element("summary", {}, "Examples (e)"),
    element("ul", {}, ...about.examples.map(([met, label, why]) => element("li", {}, `${met} → `, element("b", {}, label), `: ${why}`))));
  examples.hidden = !about.examples.length;
  const form = element("div", { class: "form" }, element("p", { class: "question" }, about.question),
    group(about.question, choices), beside, typed, marking, marked, group("or decline to label", refusals, "refusals"), reason, source);
  root.setAttribute("aria-label", about.title);
  root.replaceChildren(
    element("div", { class: "top" }, element("span", {}, about.rater), progress, bar),
    element("p", { class: "guide" }, about.guide), examples, material, feedback, form,
    element("div", { class: "bottom" }, saving, ...leaving,
      button("?", "keys", () => { help.hidden = !help.hidden; }), hint),
    status, help);

  // ---- an item

  function show() {
    item = model.get("shown");
    const { handled, training, earlier } = item;
    if (!handled && !training) examples.open = true;
    const finished = item.place === null;
    chosen = new Set(earlier?.values);
    type = new Set((earlier?.type || "").split("; ").filter(Boolean));
    refused = earlier?.refused ?? "";
    reason.value = earlier?.reason ?? "";
    source.value = earlier?.source ?? "";
    if (!finished) spans.begin(item.answer.text, earlier?.spans ?? []);
    count();
    material.replaceChildren(...(finished ? closingOf(item, about)
      : [element("div", {}, ...item.before.map(blockOf)),
         element("div", {}, section(item.answer.label, ...(item.cut ? [element("p", { class: "cut" }, CUT)] : []), answer),
           ...item.after.map(blockOf)),
         element("div", { class: "opinions" }, ...item.opinions.map(opinionOf))]));
    material.scrollTop = 0;
    feedback.replaceChildren(...(item.feedback ? [feedbackOf(item.feedback)] : []));
    form.hidden = finished || Boolean(item.feedback);
    saving.hidden = finished;
    for (const b of leaving) b.hidden = Boolean(training);
    saving.lastChild.textContent = item.feedback ? "go on" : "save";
    if (root.contains(document.activeElement)) focus();
    spent = 0;
    since = document.hidden ? null : performance.now();
    clearTimeout(soon);
    soon = setTimeout(() => { soon = 0; busy(); }, TOO_SOON_MS);
    draw();
    begun = entered();
  }

  const entered = () => JSON.stringify([[...chosen], [...type], refused, reason.value, source.value, spans.texts()]);

  function count() {
    const { handled, of, training, refused } = model.get("shown");
    progress.textContent = training || `${handled} of ${of}${refused ? `, ${refused} refused` : ""}`;
    bar.hidden = Boolean(training);
    bar.max = of;
    bar.value = handled;
  }

  const open = () => Boolean(about.spans_for && chosen.has(about.spans_for) && !item.feedback);
  const needed = (values) => !refused && values.some((value) => chosen.has(value));

  function draw() {
    busy();
    if (item.place === null) { hint.textContent = ""; return; }
    for (const [value, b] of choices) b.setAttribute("aria-pressed", chosen.has(value));
    for (const [value, b] of [...types, ...labels]) b.setAttribute("aria-pressed", type.has(value));
    for (const [value, b] of refusals) b.setAttribute("aria-pressed", refused === value);
    typed.hidden = marking.hidden = marked.hidden = !open();
    beside.hidden = !labels.length;
    saving.hidden = instant && !refused && !item.feedback;
    source.hidden = !needed(about.source_for);
    reason.placeholder = refused || needed(about.reason_for) ? "reason (needed; r, Escape)" : "reason (optional; r, Escape)";
    reason.required = Boolean(refused || needed(about.reason_for));
    spans.draw();
    marked.replaceChildren(...spans.texts().map((text, i) => {
      const remove = element("button", { type: "button", "aria-label": `remove span ${i + 1}` }, "×");
      remove.addEventListener("click", () => { spans.remove(i); focus(); });
      return element("li", {}, element("span", { class: "prose", dir: "auto" }, text), remove);
    }));
    hint.textContent = hinted();
  }

  function hinted() {
    const numbers = `${about.choices[0][0]} to ${about.choices.at(-1)[0]}`;
    if (item.feedback) return "read the feedback; Enter goes on";
    if (refused) return `${refused === "faulty" ? "say what is wrong with the item" : "say why it can't be decided"}, then Enter saves`;
    if (instant) return `${numbers}: the key alone saves and goes on`;
    if (about.several) return `${numbers} switch choices on and off, and none is possible; Enter saves`;
    if (!chosen.size) return `choose ${numbers}`;
    if (open() && !type.size) return `type: ${about.types.map((t) => t[0]).join(", ")}`;
    if (open() && !spans.count()) return "mark the place: select it with the mouse, or → ← and Shift, then s";
    if (needed(about.reason_for) && !reason.value.trim()) return "r: say why";
    if (needed(about.source_for) && !source.value.trim()) return "o: name the source that you consulted";
    return `Enter saves and goes on${open() ? "; s marks more" : labels.length ? "; letters switch labels on and off" : "; r for a reason"}`;
  }

  const busy = () => root.setAttribute("aria-busy", Boolean(waiting || soon));

  function say(text, fault) {
    status.textContent = text;
    status.classList.toggle("fault", Boolean(fault));
  }

  // ---- choosing

  const shut = () => waiting || soon || item.place === null || item.feedback;

  function choose(value) {
    if (shut()) return;
    refused = "";
    if (about.several && chosen.delete(value)) return draw();
    chosen = new Set(about.several ? [...chosen, value] : [value]);
    draw();
    if (instant) save();
  }

  function pick(value) {
    if (shut()) return;
    if (!open()) return say(`first choose ${about.spans_for}`, true);
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

  function scroll(event) {
    const page = event.key.startsWith("Page") ? material.clientHeight - 40 : 60;
    material.scrollBy({ top: event.key.endsWith("Down") ? page : -page });
  }

  // ---- saving

  function clock() {      // counts only while the page can be seen
    if (since !== null) spent += performance.now() - since;
    since = document.hidden ? null : performance.now();
  }

  function save() {
    if (item.feedback) return ask({ do: "read" });
    clock();
    const kinds = about.labels.length ? about.labels.map((l) => l[1]).filter((value) => type.has(value)) : open() ? [...type] : [];
    ask({ do: "label", values: [...chosen], type: refused ? "" : kinds, spans: open() ? spans.texts() : [], reason: reason.value,
      refused, source: needed(about.source_for) ? source.value : "", seconds: spent / 1000 });
  }

  function ask(message) {
    if (waiting || soon) return;
    asked = message.do;
    waiting = true;
    busy();
    say("");
    model.send({ ...message, place: item.place });
  }

  function told() {
    const { place, saved, fault } = model.get("shown");
    if (!asked && entered() !== begun) return count();      // news of another tab: what was entered here stays
    waiting = false;
    if (fault && place === item.place) draw(); else show();      // what the rater has entered stays
    say(fault ? `${asked === "label" ? "NOT saved: " : ""}${fault}` : saved, fault);
    asked = "";
  }

  // ---- keys

  function key(event) {
    if (event.target === reason || event.target === source) {
      if (event.key === "Escape") focus();
      if (event.key !== "Enter" || event.shiftKey) return;
    }
    if (event.target.tagName === "BUTTON" && [" ", "Enter"].includes(event.key)) return;
    const found = keys.find(([pressed]) => pressed.includes(event.key));
    if (!found) return;
    event.preventDefault();
    if (event.repeat && !/^(Arrow|Page)/.test(event.key)) return;
    if (item.place !== null || ["b", "Backspace", "?"].includes(event.key)) found[2](event);
  }

  document.addEventListener("visibilitychange", clock);
  for (const field of [reason, source]) field.addEventListener("input", () => { hint.textContent = hinted(); });
  show();
  return {
    told, key,
    end() {
      document.removeEventListener("visibilitychange", clock);
      spans.end();
      clearTimeout(soon);
    },
  };
}
