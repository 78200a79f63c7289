// The page has no server. Labels are lines that are only added, kept by the browser and saved as a file; what comes back
// is checked again where it is taken in.
//
// The page may be open in several tabs. Each line has a key of its own in the browser's storage, so that no tab can
// write over what another has kept.

function begin() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { about, items } = data, store = `bedside ${data.task} ${data.hand}`;
  const told = document.getElementById("told");
  const name = (item) => `${item.id} ${item.again}`;
  const given = new Map(items.filter((i) => i.given).map((i) => [name(i), { ...i.given, values: split(i.given.value) }]));
  const lines = new Map(), trained = new Set();
  let kept = true, fault = "", saved = "", agreed = !data.entrance, answered = null, at = 0, act = () => {};
  read();
  const queue = [...items], later = new Set();
  const left = data.training.filter((t) => !trained.has(t.id));

  function split(value) { return about.several ? value.split("; ").filter(Boolean) : value ? [value] : []; }

  function subject(line) { return line.id ? name(line) : line.training ? `training ${line.training}` : "entrance"; }
  function bare({ inFile, ...line }) { return line; }
  function keyOf(line) { return `${store} ${line.at} ${subject(line)}`; }
  function byTime() { return [...lines.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at)); }

  function read() {      // what any tab has kept, also one with a page of an earlier version, which writes one list
    try {
      const own = Object.keys(localStorage).filter((key) => key.startsWith(`${store} `));
      const texts = [localStorage.getItem(store) ?? "[]", ...own.map((key) => `[${localStorage.getItem(key)}]`)];
      for (const line of texts.flatMap((text) => JSON.parse(text))) {
        lines.set(keyOf(line), { ...line, inFile: line.inFile || lines.get(keyOf(line))?.inFile });
      }
    } catch { kept = false; }
    for (const line of byTime()) {
      if (line.training) trained.add(line.training);
      if (line.id && !(Date.parse(given.get(name(line))?.at) > Date.parse(line.at)))
        given.set(name(line), { ...line, type: line.type.join("; ") });
    }
  }

  function write() {
    try {
      for (const [key, line] of lines) localStorage.setItem(key, JSON.stringify(line));
      localStorage.setItem(store, JSON.stringify(byTime().map(bare)));      // for pages of an earlier version
      kept = true;
    } catch { kept = false; }
    note();
  }

  function keep(line) {
    const last = Date.parse(byTime().at(-1)?.at ?? 0);      // a clock that was set back makes no label older
    const added = { ...line, at: new Date(Math.max(Date.now(), last + 1)).toISOString() };
    lines.set(keyOf(added), added);
    read();
    write();
  }

  function lacking() { return new Set([...lines.values()].filter((line) => !line.inFile).map(subject)).size; }

  function note() {
    const more = lacking();
    told.className = kept ? "" : "fault";
    told.textContent = (kept ? "" : "This browser keeps nothing: save the file before you close the page. ")
      + (more ? `Not in a file yet: ${more}` : lines.size ? "All labels are in the file." : "");
  }

  function next() {
    const open = (i) => !given.has(name(queue[i]));
    at = [...queue.keys()].slice(at).concat([...queue.keys()].slice(0, at)).find(open) ?? queue.length;
  }

  function shown() {
    const done = items.filter((i) => given.has(name(i)));
    const made = { handled: done.length, of: items.length, refused: done.filter((i) => given.get(name(i)).refused).length,
      where: "this browser. Save them as a file with the button below, and send it to whoever gave you this page.",
      training: "", feedback: null, opinions: [], cut: false, entrance: null, earlier: null, fault, saved };
    if (!agreed) return { ...made, place: "entrance", entrance: data.entrance };
    if (left.length) {
      const place = `training ${data.training.length - left.length + 1}`;
      return { ...made, ...left[0], place: answered ? `${place}, feedback` : place, training: `${place} of ${data.training.length}`,
        feedback: answered, earlier: answered?.given ?? null };
    }
    if (at === queue.length) return { ...made, place: null };
    return { ...made, ...queue[at], place: at, earlier: given.get(name(queue[at])) ?? null };
  }

  function wrong(said, values) {
    if (said.refused) return said.reason.trim() ? "" : "a refusal needs a reason";
    if (!about.several && values.length !== 1) return "choose one of the values";
    const marks = about.spans_for && values.includes(about.spans_for);
    if (marks && !said.type.length) return "choose a type";
    if (marks && !said.spans.length) return "mark at least one place";
    if (about.reason_for.some((v) => values.includes(v)) && !said.reason.trim()) return "give a reason (r)";
    if (about.source_for.some((v) => values.includes(v)) && !said.source.trim()) return "name the source that you consulted (o)";
    return "";
  }

  function label(message) {
    const { values, spans, reason, source, refused, seconds } = message, type = [message.type].flat().filter(Boolean);
    fault = wrong({ type, spans, reason, source, refused }, values);
    if (fault) return;
    if (left.length) {
      const { right, expected, why, answer } = left[0], place = (s) => placeOf(answer.text, s);
      const touched = right.spans.map(place).every(([a, b]) => spans.map(place).some(([c, d]) => c < b && a < d));
      const alike = values.join("; ") === right.value && type.join("; ") === right.type;
      answered = { right: alike && touched, expected, why, given: { ...message, type: type.join("; ") } };
      return;
    }
    const item = queue[at], again = given.has(name(item)), line = { id: item.id, again: item.again, values, type, spans, reason, source, refused, seconds };
    keep(line);
    saved = kept ? (again ? "saved again" : `saved ${given.size}`) : "";
    next();
  }

  function skip() {
    const item = queue[at];
    if (given.has(name(item))) return next();
    if (later.has(name(item))) { fault = "it was put off once already; label it, or decline to"; return; }
    later.add(name(item));
    let last = queue.splice(at, 1)[0];
    const repeat = item.again ? -1 : queue.findIndex((i) => i.id === item.id && i.again && !given.has(name(i)));
    if (repeat >= 0) [queue[repeat], last] = [item, queue[repeat]];       // it comes first now, and so is what counts
    queue.push(last);
    next();
  }

  function send(message) {
    fault = saved = "";
    if (Number.isInteger(message.place)) at = message.place;      // what is on screen, whatever another tab has done
    if (message.do === "enter") {
      if (message.agreed) { agreed = true; keep({ entrance: message.answers }); } else fault = "nothing is shown without your consent";
    } else if (message.do === "label") label(message);
    else if (message.do === "read" && answered) {
      if (!trained.has(left[0].id)) keep({ training: left[0].id, right: answered.right });
      while (left.length && trained.has(left[0].id)) left.shift();
      answered = null;
    } else if (message.do === "skip") skip();
    else if (message.do === "back") at = Math.max(at - 1, 0);
    setTimeout(() => act());
  }

  document.getElementById("file").addEventListener("click", () => {
    const head = { bedside: "labels", task: data.task, rater: about.rater, hand: data.hand };
    read();
    const text = [head, ...byTime().map(bare)].map((line) => JSON.stringify(line)).join("\n") + "\n";
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "application/jsonl" })),
      download: `${data.task}-${about.rater}.jsonl` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    for (const line of lines.values()) line.inFile = true;
    write();
  });
  addEventListener("storage", ({ key }) => {      // another tab has kept something
    if (!key?.startsWith(store)) return;
    const open = at < queue.length && !given.has(name(queue[at]));
    read();
    note();
    if (open && given.has(name(queue[at]))) next();
    act();
  });
  addEventListener("beforeunload", (event) => { if (!kept && lacking()) event.preventDefault(); });
  next();
  note();
  render({ el: document.getElementById("box"), model: {
    get: (what) => (what === "about" ? about : shown()), on: (done) => { act = done; }, send,
  } });
}
