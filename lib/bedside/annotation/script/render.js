function render({ model, el }) {
  const root = element("div", { class: "bedside-annotation", tabindex: "0", role: "group" });
  let now = null, known = null;

  function told() {
    const view = model.get("shown").entrance ? entrance : desk;
    if (now && known === view) return now.told();
    known = view;
    const here = root.contains(document.activeElement);
    now?.end();
    now = view({ model, root });
    if (here && view === desk) root.focus({ preventScroll: true });
  }

  root.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    now.key(event);
  });
  model.on(told);
  el.append(root);
  told();
  requestAnimationFrame(() => {
    root.scrollIntoView({ block: "nearest" });
    if (known === desk) root.focus({ preventScroll: true });
    else root.querySelector("input, button")?.focus({ preventScroll: true });
  });
}
