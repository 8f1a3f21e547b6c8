"use strict";
// Asks for the server's numbers every second and draws them. What the server tells is put in as text only.

const SAMPLES = 180; // seconds that are drawn
const PATIENCE = 4000; // milliseconds until a request has failed
const SVG = "http" + "://www.w3.org/2000/svg"; // a name, not an address

const $ = (id) => document.getElementById(id);
const samples = [];
let paused = false;
let lostSince = null;

// The sum of counters, and how much it has grown in a second.
const value = (names, at) => names.reduce((sum, name) => sum + (at.status[name] ?? 0), 0);
const rate = (names) => (now, before) => {
  if (!before) return null;
  const grown = value(names, now) - value(names, before);
  return grown / Math.max((now.micros - before.micros) / 1e6, 1e-3);
};
const level = (...names) => (now) => value(names, now);
const lag = (ahead, behind) => (now) => Math.max(0, value([ahead], now) - value([behind], now));

// The time that this part of the statements of the last second stayed below, in milliseconds.
const quantile = (part) => (now, before) => {
  if (!before) return null;
  const earlier = new Map(before.latency.map(([bucket, times]) => [bucket, times]));
  const grown = now.latency.map(([bucket, times, ms]) => [times - (earlier.get(bucket) ?? 0), ms]).filter(([times]) => times > 0);
  const wanted = part * grown.reduce((sum, [times]) => sum + times, 0);
  let sum = 0;
  for (const [times, ms] of grown) {
    sum += times;
    if (sum >= wanted) return ms;
  }
  return null;
};

const READS = ["Com_select"];
const WRITES = ["Com_insert", "Com_update", "Com_delete", "Com_replace", "Com_load", "Com_insert_select", "Com_replace_select",
  "Com_update_multi", "Com_delete_multi"];
const PAGE_READS = ["Innodb_buffer_pool_reads"];
const PAGE_REQUESTS = ["Innodb_buffer_pool_read_requests"];
const hits = (now, before) => {
  if (!before) return null;
  const requests = rate(PAGE_REQUESTS)(now, before);
  return requests > 0 ? 100 * (1 - rate(PAGE_READS)(now, before) / requests) : null;
};

const count = (n) => n == null ? "–" : n >= 1e9 ? (n / 1e9).toFixed(2) + " G" : n >= 1e6 ? (n / 1e6).toFixed(2) + " M"
  : n >= 1e4 ? (n / 1e3).toFixed(1) + " k" : n >= 100 || Number.isInteger(n) ? n.toFixed(0) : n.toFixed(1);
const bytes = (n) => {
  if (n == null) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) { n /= 1024; unit += 1; }
  return (unit === 0 || n >= 100 ? n.toFixed(0) : n.toFixed(1)) + " " + units[unit];
};
const percent = (n) => n == null ? "–" : n.toFixed(n >= 99.95 ? 0 : 1) + " %";
const time = (ms) => ms == null ? "–" : ms >= 1000 ? (ms / 1000).toFixed(2) + " s" : ms >= 1 ? ms.toFixed(1) + " ms" : (ms * 1000).toFixed(0) + " µs";
const duration = (seconds) => {
  const days = Math.floor(seconds / 86400), hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  return days ? `${days} d ${hours} h` : hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
};

const TILES = [
  ["Statements / s", rate(["Questions"]), count],
  ["Commits / s", rate(["Com_commit"]), count],
  ["Rows read / s", rate(["Innodb_rows_read"]), count],
  ["Sessions", level("Threads_connected"), count],
  ["At work", level("Threads_running"), count],
  ["Found in the pool", hits, percent],
  ["History length", level("Innodb_history_list_length"), count],
  ["Waits for row locks", level("Innodb_row_lock_current_waits"), count],
  ["Deadlocks", level("Innodb_deadlocks"), count],
];

const CHARTS = [
  ["Statements a second", count, [["all", rate(["Questions"])], ["reads", rate(READS)], ["writes", rate(WRITES)]]],
  ["Time of a statement", time, [["half", quantile(0.5)], ["95 %", quantile(0.95)], ["99 %", quantile(0.99)]]],
  ["Redo log: what lies between", bytes, [
    ["reserved and durable", lag("Innodb_redo_log_current_lsn", "Innodb_redo_log_flushed_to_disk_lsn")],
    ["durable and checkpoint", lag("Innodb_redo_log_flushed_to_disk_lsn", "Innodb_redo_log_checkpoint_lsn")],
  ]],
  ["Redo log, a second", bytes, [["written", rate(["Innodb_os_log_written"])]]],
  ["Flushes of the log a second", count, [["flushes", rate(["Innodb_os_log_fsyncs"])]]],
  ["Buffer pool", bytes, [["data", level("Innodb_buffer_pool_bytes_data")], ["not written yet", level("Innodb_buffer_pool_bytes_dirty")]]],
  ["Pages a second", count, [["read", rate(["Innodb_pages_read"])], ["written", rate(["Innodb_pages_written"])]]],
  ["Rows a second", count, [
    ["read", rate(["Innodb_rows_read"])],
    ["changed", rate(["Innodb_rows_inserted", "Innodb_rows_updated", "Innodb_rows_deleted"])],
  ]],
  ["Versions that purge has to look at", count, [["history length", level("Innodb_history_list_length")]]],
  ["Row locks a second", count, [["waits", rate(["Innodb_row_lock_waits"])], ["deadlocks", rate(["Innodb_deadlocks"])]]],
  ["Network, a second", bytes, [["sent", rate(["Bytes_sent"])], ["received", rate(["Bytes_received"])]]],
];

const cell = (text, kind, more) => ({ text: text == null ? "" : String(text), kind, more });
const opened = new Set(); // statements whose samples and plans are shown
const plans = new Map(); // what was told of the plans of these
const TABLES = {
  running: {
    heads: ["Id", "Account", "Schema", "Command", "Seconds", "State", "Statement"],
    row: (it) => [cell(it.id, "number"), cell(`${it.user}@${it.host}`), cell(it.schema), cell(it.command),
      cell(it.seconds, "number"), cell(it.state), cell(it.text, "text")],
    none: "No statement runs.",
  },
  blocked: {
    heads: ["Id", "waits for", "Seconds", "Table", "Index", "Lock", "Statement", "Statement of the other"],
    row: (it) => [cell(it.id, "number"), cell(it.by, "number"), cell(it.seconds, "number"), cell(`${it.schema}.${it.table}`),
      cell(it.index), cell(it.key == null ? it.mode : `${it.mode}: ${it.key}`), cell(it.text, "text"), cell(it.by_text, "text")],
    none: "No session waits for a row lock.",
  },
  statements: {
    heads: ["Schema", "Statement", "Times", "Seconds in all", "Mean", "95 %", "99 %", "Longest", "Rows read", "Rows sent", "Errors"],
    row: (it) => [cell(it.schema), cell(it.digest, "text", it), cell(count(it.count), "number"), cell(it.seconds.toFixed(2), "number"),
      cell(time(it.mean), "number"), cell(time(it.p95), "number"), cell(time(it.p99), "number"), cell(time(it.most), "number"),
      cell(count(it.examined), "number"), cell(count(it.sent), "number"), cell(count(it.errors), "number")],
    none: "No statement has ended yet.",
  },
  slowest: {
    heads: ["Session", "Schema", "Statement", "Took", "Waited for locks", "Rows read", "Rows sent", "Error"],
    row: (it) => [cell(it.id, "number"), cell(it.schema), cell(it.text, "text"), cell(time(it.took), "number"),
      cell(time(it.locked), "number"), cell(count(it.examined), "number"), cell(count(it.sent), "number"),
      cell(it.error || "", "number")],
    none: "No statement has ended yet.",
  },
  slow_log: {
    heads: ["Ended", "Account", "Schema", "Took", "Waited for locks", "Rows read", "Rows sent", "Statement"],
    row: (it) => [cell(it.at), cell(it.account), cell(it.schema), cell(time(it.took), "number"), cell(time(it.locked), "number"),
      cell(count(it.examined), "number"), cell(count(it.sent), "number"), cell(it.text, "text")],
    none: "No slow statement is logged.",
  },
  indexes: {
    heads: ["Table", "Index", "Rows read", "Inserted", "Updated", "Deleted"],
    row: (it) => [cell(`${it.schema}.${it.table}`), cell(it.index ?? "(none)"), cell(count(it.fetched), "number"),
      cell(count(it.inserted), "number"), cell(count(it.updated), "number"), cell(count(it.deleted), "number")],
    none: "No table has been used yet.",
  },
  unused: {
    heads: ["Table", "Index"],
    row: (it) => [cell(`${it.schema}.${it.table}`), cell(it.index)],
    none: "Every index has been used.",
  },
  files: {
    heads: ["Files", "Reads", "Bytes read", "Writes", "Bytes written", "Syncs and others"],
    row: (it) => [cell(it.name), cell(count(it.reads), "number"), cell(bytes(it.read), "number"), cell(count(it.writes), "number"),
      cell(bytes(it.written), "number"), cell(count(it.others), "number")],
    none: "No file has been read or written.",
  },
  spaces: {
    heads: ["Table", "Format", "Size of the file", "On the disk"],
    row: (it) => [cell(it.name), cell(it.format), cell(bytes(it.bytes), "number"), cell(bytes(it.allocated), "number")],
    none: "There are no tables.",
  },
};

const element = (name, text, kind) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
};

function buildNumbers() {
  for (const tile of TILES) {
    const place = element("div");
    tile.push(element("dd", "–"));
    place.append(element("dt", tile[0]), tile[3]);
    $("tiles").append(place);
  }
  for (const chart of CHARTS) {
    const figure = element("figure"), legend = element("ul"), svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${SAMPLES - 1} 100`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    const base = document.createElementNS(SVG, "line");
    for (const [name, at] of [["x1", 0], ["x2", SAMPLES - 1], ["y1", 99.5], ["y2", 99.5]]) base.setAttribute(name, at);
    svg.append(base);
    for (const series of chart[2]) {
      const line = document.createElementNS(SVG, "polyline");
      svg.append(line);
      series.push(line, legend.appendChild(element("li", series[0])));
    }
    const caption = element("figcaption", chart[0] + " "), most = caption.appendChild(element("small"));
    chart.push(svg, most);
    figure.append(caption, legend, svg);
    $("charts").append(figure);
  }
}

function drawNumbers() {
  const last = samples.length - 1;
  for (const [, of, show, place] of TILES) place.textContent = show(of(samples[last], samples[last - 1]));
  for (const [title, show, all, svg, most] of CHARTS) {
    const drawn = all.map(([, of]) => samples.map((sample, at) => of(sample, samples[at - 1])));
    const top = Math.max(1, ...drawn.flat().filter((n) => n != null));
    const told = [];
    most.textContent = `at most ${show(top)}`;
    all.forEach(([name, , line, legend], which) => {
      const first = SAMPLES - samples.length;
      const points = drawn[which].map((n, at) => n == null ? null : `${first + at},${(99 - 96 * n / top).toFixed(2)}`);
      line.setAttribute("points", points.filter((point) => point).join(" "));
      const now = `${name}: ${show(drawn[which][last])}`;
      legend.textContent = now;
      told.push(now);
    });
    svg.setAttribute("aria-label", `${title}, the last ${samples.length} seconds, at most ${show(top)}; now ${told.join(", ")}`);
  }
}

const hex = (text) => Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");

// Puts the plan of a statement into a place. It is asked for once while the statement stays open.
async function tellPlan({ hash, schema }, place) {
  if (hash == null) return;
  const path = `/plan.json?digest=${hash}` + (schema == null ? "" : `&schema=${hex(schema)}`);
  if (!plans.has(path)) {
    plans.set(path, "The plan is asked for.");
    try {
      const { plan, problem } = await ask(path);
      plans.set(path, plan ?? `No plan: ${problem}`);
    } catch {
      plans.delete(path);
      return;
    }
  }
  place.textContent = plans.get(path);
}

// A cell; what there is more to it is shown when it is opened, and stays so when the table is drawn anew.
function filled({ text, kind, more }) {
  if (more?.sample == null) return element("td", text, kind);
  const made = element("td", undefined, kind), details = element("details"), plan = element("pre", undefined, "plan");
  details.open = opened.has(text);
  if (details.open) tellPlan(more, plan);
  details.addEventListener("toggle", () => {
    if (!details.open) {
      opened.delete(text);
      plans.clear();
    } else if (!opened.has(text)) {
      opened.add(text);
      tellPlan(more, plan);
    }
  });
  details.append(element("summary", text), element("pre", more.sample), plan);
  made.append(details);
  return made;
}

function drawTable(name, rows) {
  const { heads, row, none } = TABLES[name];
  const head = element("thead"), body = element("tbody"), line = element("tr");
  for (const text of heads) {
    const made = element("th", text);
    made.scope = "col";
    line.append(made);
  }
  head.append(line);
  for (const cells of rows.map(row)) {
    const line = element("tr");
    for (const it of cells) line.append(filled(it));
    body.append(line);
  }
  if (rows.length === 0) {
    const only = element("td", none, "none");
    only.colSpan = heads.length;
    body.appendChild(element("tr")).append(only);
  }
  $(name).replaceChildren(head, body);
}

function say(state, text) {
  if ($("state").textContent !== text) $("state").textContent = text;
  $("state").dataset.state = state;
}

async function ask(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(PATIENCE), cache: "no-store" });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

function take(now) {
  const before = samples[samples.length - 1];
  // A server that has started anew counts from 0 again.
  if (before && now.status.Uptime < before.status.Uptime) samples.length = 0;
  samples.push(now);
  if (samples.length > SAMPLES) samples.shift();
  lostSince = null;
  say("up", "Answers");
  $("about").textContent = `${now.version}, up ${duration(now.status.Uptime)}`;
  drawNumbers();
  drawTable("running", now.running);
  drawTable("blocked", now.blocked);
}

async function everySecond() {
  if (!paused) {
    try {
      take(await ask("/now.json"));
    } catch {
      lostSince ??= new Date();
      say("down", `No answer since ${lostSince.toLocaleTimeString()}`);
    }
  }
  setTimeout(everySecond, 1000);
}

async function everyTenSeconds() {
  if (!paused) {
    try {
      const slow = await ask("/slow.json");
      for (const name of ["statements", "slowest", "indexes", "unused", "files", "spaces"]) drawTable(name, slow[name]);
      const { from, problem, rows } = slow.slow_log;
      drawTable("slow_log", rows);
      $("slow_log-from").textContent = problem ?? (from == null ? "slow_query_log is OFF, or log_output is NONE." : `From ${from}.`);
    } catch { /* the other request says so */ }
  }
  setTimeout(everyTenSeconds, 10000);
}

$("pause").addEventListener("click", () => {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", String(paused));
  $("pause").textContent = paused ? "Go on" : "Pause";
  if (paused) say("waiting", "Paused");
});

buildNumbers();
everySecond();
everyTenSeconds();
