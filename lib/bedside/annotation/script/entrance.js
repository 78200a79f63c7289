// Before the first item: consent, and questions about the rater, none of which needs an answer.

function entrance({ model, root }) {
  const { consent, questions } = model.get("shown").entrance;
  const status = element("p", { class: "status fault", role: "status", "aria-live": "polite" });
  const agreed = element("input", { type: "checkbox" });
  const choices = questions.map((asked) => {
    const select = element("select", {}, ...asked.answers.map((answer) => element("option", {}, answer)));
    select.value = asked.given;
    return [asked, select];
  });
  const begin = element("button", { type: "submit", class: "save" }, "begin");

  begin.addEventListener("click", (event) => {
    event.preventDefault();
    const answers = Object.fromEntries(choices.map(([asked, select]) => [asked.name, select.value]));
    model.send({ do: "enter", place: "entrance", agreed: agreed.checked, answers });
  });
  root.setAttribute("aria-label", "consent");
  root.setAttribute("aria-busy", "false");
  root.replaceChildren(
    element("form", { class: "door" },
      ...(consent ? consent.split("\n\n").map(prose) : []),
      ...(choices.length ? [element("p", { class: "heading" }, "About you (optional)")] : []),
      ...choices.map(([asked, select]) => element("p", {}, element("label", {}, `${asked.question} `, select))),
      element("p", {}, element("label", {}, agreed, " I have read this and agree to take part.")),
      element("p", { class: "answers" }, begin)),
    status);
  agreed.focus({ preventScroll: true });
  return { told() { status.textContent = model.get("shown").fault; }, key: () => {}, end: () => {} };
}
