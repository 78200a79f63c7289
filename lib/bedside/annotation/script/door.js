// Before there is a rater: who labels?

function door({ model, root }) {
  let waiting = 0;
  const status = element("p", { class: "status", role: "status", "aria-live": "polite" });

  function ask(name, sure) {
    if (waiting) return;
    waiting = setTimeout(() => { waiting = 0; say(SILENT, true); }, PATIENCE_MS);
    say("one moment…");
    model.send({ do: "open", name, sure });
  }

  function say(text, fault) {
    status.textContent = text;
    status.classList.toggle("fault", Boolean(fault));
  }

  const button = (text, act, name = "") => {
    const made = element("button", { type: "submit", class: name }, text);
    made.addEventListener("click", (event) => { event.preventDefault(); act(); });
    return made;
  };

  function form({ names, name, known }) {
    if (known) {
      const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
      const refused = known.refused ? ` and ${counted(known.refused, "refusal")}` : "";
      return [element("p", { class: "prose" },
        `${known.rater} has ${counted(known.labels, "label")}${refused} since ${known.since}. Are these yours, and do you want to go on?`),
        element("p", { class: "answers" }, button(`go on as ${known.rater}`, () => ask(known.rater, true), "save"),
          button("another name", () => show({ names, name: "", known: null, fault: "" })))];
    }
    if (names.length) {
      return [element("p", {}, "Choose your name. Each rater has a share of the replies."),
        element("p", { class: "answers" }, ...names.map((one) => button(one, () => ask(one, false))))];
    }
    const field = element("input", { type: "text", "aria-label": "your name or number", autocomplete: "off", value: name });
    return [element("p", {}, "Your name or number: letters, digits, spaces and . _ -"),
      element("p", { class: "answers" }, field, button("begin", () => {
        if (field.value.trim()) ask(field.value, false); else say("give a name or a number", true);
      }, "save"))];
  }

  function show(asked) {
    clearTimeout(waiting);
    waiting = 0;
    root.setAttribute("aria-label", "who labels");
    root.replaceChildren(
      element("div", { class: "top" }, element("strong", {}, asked.title ?? model.get("shown").title)),
      element("form", { class: "door" }, element("p", { class: "heading" }, "Who labels?"), ...form(asked)), status);
    say(asked.fault, asked.fault);
    root.setAttribute("aria-busy", "false");
    root.querySelector("input, button")?.focus({ preventScroll: true });
  }

  show(model.get("shown"));
  return { told: () => show(model.get("shown")), key: () => {}, end: () => clearTimeout(waiting) };
}
