// What was sent and what came back, unpacked on request

const LONG = 2000;                          // characters of a message that are shown at first
const recorded = value => value ?? "not recorded";
const setting = value => typeof value === "string" ? value : JSON.stringify(value);
const CALL = [                              // column of the export, name on the page, text of a call
  ["model_asked", "model requested", c => recorded(c.model)],
  ["model_answered", "model that answered", c => recorded(c.returned_model)],
  ["settings", "settings", c => Object.entries(c.settings).map(([k, v]) => `${k}: ${setting(v)}`).join(", ") || "none"],
  ["response_format", "response format", c => c.response_format === null ? "none requested" : setting(c.response_format)],
  ["repeat", "repeat", c => recorded(c.repeat)],
  ["finish", "finish reason", c => recorded(c.finish)],
  ["prompt_tokens", "prompt tokens", c => recorded(c.prompt_tokens)],
  ["completion_tokens", "reply tokens", c => recorded(c.completion_tokens)],
  ["date", "date", c => recorded(c.date)],
  ["seconds", "latency, seconds", c => recorded(c.seconds)],
  ["usd", "cost, US dollars", c => c.usd ?? "price unknown"],
  ["fingerprint", "fingerprint", c => recorded(c.fingerprint)],
  ["router", "router", c => recorded(c.router)],
];
const UNSENT = {written: "the text was written for this project or for the benchmark.", rules: "rules without a model wrote the text.",
  person: "people wrote the text.", model: "the reply came with the data, or its call is not recorded."};

let unpacked = null, unsealed = false;      // the parcel; whether it was open at the reply before
const sent = () => unpacked ??= unpack("sent").then(parcel =>
  Object.fromEntries(["calls", "messages"].map(k => [k, new Map(Object.entries(parcel[k]))])));
const unreadable = error => `What was sent can't be read; the file may be damaged (${error.message}).`;

/* A row's calls in order. Of a call's messages the first `same` are those of the call `as` (by its place), the earlier
   one that begins alike for longest, so that only the others need be shown. */
function exchanged(row, {calls, messages}) {
  const found = row.calls.map(key => ({key, call: calls.get(key)})), begun = [];
  for (const one of found) {
    const mine = one.call?.messages ?? [];
    Object.assign(one, {same: 0, as: -1});
    begun.forEach((other, i) => {
      const n = mine.findIndex((m, k) => m !== other[k]), same = n < 0 ? mine.length : n;
      if (same > one.same) Object.assign(one, {same, as: i});
    });
    one.messages = mine.map(key => messages.get(key) ?? {role: "?", content: "This message isn't in the file."});
    begun.push(mine);
  }
  return found;
}

const content = m => typeof m.content === "string" ? m.content : JSON.stringify(m.content, null, 1);
const earlier = (n, as) => `${n === 1 ? "message 1" : `messages 1 to ${n}`}, as in call ${as + 1}`;

function lazy(summary, build, more) {       // its content is made when it is first opened
  const box = make("details", more, make("summary", {}, ...summary));
  box.addEventListener("toggle", () => box.open && box.children.length === 1 && box.append(...build()));
  return box;
}

function shownCall({key, call, messages, same, as}) {
  if (!call) return [make("p", {className: "note"}, "This call isn't in the file: ", bdi(key))];
  const message = (m, i) => make("div", {className: "turn"}, make("p", {className: "who"}, `${i + 1} `, bdi(m.role)),
    text(content(m), LONG));
  const said = messages.map((m, i) => [m, i]), made = part => part.map(([m, i]) => message(m, i));
  const pairs = [...CALL.map(([, name, of]) => [name, String(of(call))]), ["recording", key]];
  return [...same ? [lazy([earlier(same, as)], () => made(said.slice(0, same)))] : [], ...made(said.slice(same)),
    make("dl", {className: "call"}, ...pairs.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, text(value, LONG))]))];
}

function shownCalls(row, parcel) {
  const all = exchanged(row, parcel);
  if (all.length === 1) return shownCall(all[0]);
  const sum = (name, lacking) => all.some(({call}) => call?.[name] == null) ? lacking
    : String(+all.reduce((n, {call}) => n + call[name], 0).toPrecision(6));
  const total = `${number(all.length)} calls; prompt tokens: ${sum("prompt_tokens", "not recorded")}, reply tokens: ` +
    `${sum("completion_tokens", "not recorded")}; seconds: ${sum("seconds", "not recorded")}; US dollars: ${sum("usd", "price unknown")}`;
  return [soft(total), ...all.map((one, i) =>
    lazy([`call ${i + 1} of ${all.length}: `, bdi(String(recorded(one.call?.model)))], () => shownCall(one)))];
}

function judgesExchange(v) {                // what a judge was asked about the reply, and what it replied
  if (!v.calls?.length) return "";
  const box = make("div", {}, "Unpacking …");
  return lazy(["What the judge was sent"], () => (fill(box, v), [box]), {className: "asked"});
}

const fill = (box, of) => sent().then(parcel => shownCalls(of, parcel)).catch(error => [make("p", {className: "note"}, unreadable(error))])
  .then(made => box.replaceChildren(...made));

function exchange(row) {
  if (!row.calls.length) return soft("Nothing was sent from here: ", UNSENT[row.by] ?? "no call is recorded.");
  const box = make("div", {}, "Unpacking …");
  const whole = lazy(["What was sent and what came back", row.calls.length > 1 ? ` (${number(row.calls.length)} calls)` : ""],
    () => (fill(box, row), [box]), {className: "sent", open: unsealed});
  whole.addEventListener("toggle", () => { unsealed = whole.open; });
  return whole;
}

function toldCalls(row, parcel) {           // as cells of the export: a line, or the messages, for each call in order
  if (!parcel) return {calls: row.calls.join("\n"), messages: "can't be read"};
  const all = exchanged(row, parcel), lines = of => all.map(({call}) => call ? String(of(call)) : "not in the file").join("\n");
  const told = ({messages, same, as}, i) => [...all.length > 1 ? [`call ${i + 1} of ${all.length}`] : [],
    ...same ? [`[${earlier(same, as)}]`] : [], ...messages.slice(same).map(m => `[${m.role}]\n${content(m)}`)].join("\n\n");
  return {calls: row.calls.join("\n"), messages: all.map(told).join("\n\n\n"),
    ...Object.fromEntries(CALL.map(([column, , of]) => [column, lines(of)]))};
}
