// Before the first item: consent, and questions about the rater, none of which needs an answer.

function entrance({ model, root }) {
  let waiting = 0;
  const { consent, questions } = model.get("shown").entrance;
  const status = element("p", { class: "status", role: "status", "aria-live": "polite" });
  const agreed = element("input", { type: "checkbox" });
  const choices = questions.map((asked) => {
    const select = element("select", {}, ...asked.answers.map((answer) => element("option", {}, answer)));
    select.value = asked.given;
    return [asked, select];
  });
  const begin = element("button", { type: "submit", class: "save" }, "begin");

  function say(text, fault) {
    status.textContent = text;
    status.classList.toggle("fault", Boolean(fault));
  }

  begin.addEventListener("click", (event) => {
    event.preventDefault();
    if (waiting) return;
    waiting = setTimeout(() => { waiting = 0; say(SILENT, true); }, PATIENCE_MS);
    say("one moment…");
    const answers = Object.fromEntries(choices.map(([asked, select]) => [asked.name, select.value]));
    model.send({ do: "enter", place: "entrance", agreed: agreed.checked, answers });
  });
  root.setAttribute("aria-label", "consent");
  root.setAttribute("aria-busy", "false");
  root.replaceChildren(
    element("div", { class: "top" }, element("strong", {}, model.get("about").title)),
    element("form", { class: "door" },
      ...(consent ? consent.split("\n\n").map(prose) : []),
      ...(choices.length ? [element("p", { class: "heading" }, "About you (optional)")] : []),
      ...choices.map(([asked, select]) => element("p", {}, element("label", {}, `${asked.question} `, select))),
      element("p", {}, element("label", {}, agreed, " I have read this and agree to take part.")),
      element("p", { class: "answers" }, begin)),
    status);
  agreed.focus({ preventScroll: true });
  return {
    told() {
      clearTimeout(waiting);
      waiting = 0;
      say(model.get("shown").fault, true);
    },
    key: () => {},
    end: () => clearTimeout(waiting),
  };
}
