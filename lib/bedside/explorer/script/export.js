// Exports

function cell(value) {                      // as bedside.tables.cell_text: never a spreadsheet formula
  const safe = /^[=+\-@\t\r]/.test(value) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? "'" + value : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv() {
  const head = ["id", "paper", "section", "item", "model", "configuration", "category", "question", "reply", "reply_status",
    "judge", "status", "value", "right", "human", "raw"];
  const row = (r, v) => {
    const values = {...v, ...r, question: r.title, human: r.human.map(h => `${h.by}: ${h.value}`).join("; ")};
    return head.map(key => String(values[key] ?? ""));
  };
  const body = order().flatMap(([, l]) => l.sides.map(([r, v]) => row(r, v)));
  return "\ufeff" + [head, ...body].map(r => r.map(cell).join(",") + "\r\n").join("");
}

function download() {
  const url = URL.createObjectURL(new Blob([csv()], {type: "text/csv"}));
  make("a", {href: url, download: `bedside_${data.profile}.csv`}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function copy() {
  remember();
  const address = $("address");
  address.value = location.href;
  try {
    await navigator.clipboard.writeText(location.href);
    address.hidden = true;
    say("Link copied.");
  } catch {                                 // no clipboard here, or not allowed
    address.hidden = false;
    address.select();
    say("The link is selected in the field: copy it from there.");
  }
}

function say(words) {
  $("message").textContent = words;
}
