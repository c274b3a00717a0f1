// The page of one job.
import { scatter } from "./attempts.js";
import { h } from "./dom.js";
import { heat } from "./heat.js";
import { bar } from "./jobs.js";
import { off, scale } from "./history.js";
import { plot, spread } from "./plots.js";
import { printed } from "./printed.js";
import { queueSections } from "./queue.js";
import { origin, timeline } from "./timeline.js";
import { count, clock, duration, final, number, percent, size, span, state, things } from "./words.js";

export function jobPage(doc, ui) {
  const j = doc.job;
  return [
    h("h1", {}, j.id, " ", h("span", { class: "name" }, j.name)),
    h("p", {}, h("span", { class: "state " + j.state }, state(j.state)), h("span", { class: "dim" }, ` · ${j.kind}${j.submitted ? ` · submitted ${clock(j.submitted)}` : ""}${j.ended ? `, ended ${clock(j.ended)}` : ""}`)),
    tiles(j),
    j.reason && h("p", { class: "notice bad" }, j.reason),
    j.after && h("p", { class: "notice" }, "waits for " + j.after.join(", ")),
    j.waits && h("p", { class: "notice" }, `waits for ${things(j.waits.nodes, "node")} since ${clock(j.waits.since)}${j.waits.note ? " (" + j.waits.note + ")" : ""}${j.waits.expected_start ? ", expected " + clock(j.waits.expected_start) : ""}`),
    failures(j, ui),
    j.notes.map((n) => h("p", { class: "notice" }, n)),
    j.decision && h("p", { class: "dim wrap" }, j.decision),
    fold(ui, "phases", "Phases", true, phases(j)),
    attempts(j, ui),
    fold(ui, "time", "Who ran what when", true, timeline(doc, ui)),
    doc.scatter.attempts > 0 && fold(ui, "times", "Times of attempts", false, scatter(doc, ui)),
    fold(ui, "expected", "Predicted beside actual", false, predicted(doc)),
    throughput(doc, ui),
    usage(doc, ui),
    nodes(doc, ui),
    queueSections(doc),
  ];
}

// fold describes a section that can be folded. On a narrow screen all are folded at first, elsewhere those that are not open.
function fold(ui, key, title, open, ...content) {
  const shown = ui.folds[key] ?? (open && innerWidth > 640);
  const turn = (e) => { e.preventDefault(); ui.folds[key] = !shown; ui.draw(); };
  return h("details", { class: "section", key, open: shown }, h("summary", { onclick: turn }, h("h2", {}, title)), shown && content);
}

// until says when a job is expected to end.
function until(j) {
  if (!j.eta_s) return [j.open ? "open" : "–", j.open ? "until it is closed" : "until the end: unknown yet"];
  const at = clock(new Date(Date.parse(j.at) + j.eta_s * 1000).toISOString());
  return [duration(Math.ceil(j.eta_s)), `until the end, at ${at}${j.eta_from === "prediction" ? ", by prediction" : ""}`];
}

// slack says how long before its deadline a job ends.
function slack(j) {
  const late = j.slack_s < 0 ? "after" : "before";
  return [j.slack_s == null ? "–" : duration(Math.abs(j.slack_s)), `slack: the end ${late} the deadline at ${clock(j.deadline)}`];
}

function tiles(j) {
  const t = [
    final(j.state) || j.state === "interrupted" ? null : until(j),
    j.deadline ? slack(j) : null,
    [`${count(j.tasks_done)} of ${count(j.tasks_total)}`, "tasks done"],
    [duration(j.elapsed_s), "elapsed"],
    j.tasks_running > 0 ? [count(j.tasks_running), "running"] : null,
    [count(j.tasks_failed), "failed"],
    [count(j.retries), "retries"],
    j.attempts.lost > 0 ? [count(j.attempts.lost), "attempts lost"] : null,
    j.outputs_lost > 0 ? [count(j.outputs_lost), "outputs lost"] : null,
    j.stragglers.duplicates > 0 ? [`${count(j.stragglers.won)} of ${count(j.stragglers.duplicates)}`, "duplicates were first"] : null,
    j.wasted_s > 0 ? [duration(j.wasted_s), "wasted"] : null,
    j.core_s?.held >= 36 ? [`${number(j.core_s.used / 3600)} of ${number(j.core_s.held / 3600)}`, "core-hours used"] : null,
    j.core_s?.idle >= 36 ? [number(j.core_s.idle / 3600), "core-hours idle"] : null,
    j.bytes_in > 0 ? [size(j.bytes_in), "read"] : null,
    j.bytes_out > 0 ? [size(j.bytes_out), "written"] : null,
    j.energy ? [number(j.energy.joules / 1000) + " kJ", "energy, " + j.energy.source] : null,
  ];
  return h("div", { class: "tiles" }, t.filter(Boolean).map(([value, what]) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, what))));
}

const head = (texts, left) => h("thead", {}, h("tr", {}, texts.map((t, i) => h("th", { class: i >= left ? "num" : null }, t))));
const cell = (text) => h("td", { class: "num" }, text);

// brief reports whether tasks spend so little of their time in a phase that it says nothing: a hundredth, and no more than 50 ms.
function brief(p, of) {
  return p.done > 0 && p.seconds.mean <= 0.05 && p.seconds.mean * 100 <= of.reduce((sum, o) => sum + o.seconds.mean, 0);
}

function phases(j) {
  const short = j.phases.filter((p) => brief(p, j.phases));
  return [
    phaseTable(j.phases.filter((p) => !short.includes(p))),
    short.length > 0 && h("details", { key: "short" }, h("summary", {}, `${short.map((p) => `${p.phase} ${duration(p.seconds.mean)}`).join(", ")} on average`), phaseTable(short)),
  ];
}

function phaseTable(phases) {
  return h("div", { class: "scroll" }, h("table", {}, head(["Phase", "", "Done", "Running", "Failed", "ETA", "Mean", "P50", "P95", "Max", "In", "Out", "Rate", "CPU", "Memory"], 2),
    h("tbody", {}, phases.map((p) => h("tr", { key: p.phase },
      h("td", {}, p.phase), h("td", { class: "grow" }, bar(p.progress, `progress of ${p.phase}`)), cell(`${count(p.done)}/${count(p.total)}`),
      cell(p.running ? count(p.running) : ""), cell(p.failed ? count(p.failed) : ""), cell(p.eta_s ? duration(Math.ceil(p.eta_s)) : ""),
      [p.seconds.mean, p.seconds.p50, p.seconds.p95, p.seconds.max].map((s) => cell(p.done ? duration(s) : "")),
      cell(p.bytes_in ? size(p.bytes_in) : ""), cell(p.bytes_out ? size(p.bytes_out) : ""),
      cell(p.rate_bytes_s >= 1 ? size(p.rate_bytes_s) + "/s" : p.rate_tasks_s ? number(p.rate_tasks_s) + "/s" : ""), cell(p.cpu_s ? duration(p.cpu_s) : ""), cell(p.peak_mem_bytes ? size(p.peak_mem_bytes) : ""))))));
}

// predicted puts what was predicted beside what came, or what has come so far.
function predicted(doc) {
  const j = doc.job, p = doc.plan.predicted, by = j.predicted?.source || (p && doc.plan.source), so = (s) => final(j.state) ? s : undefined;
  const ran = j.actual_s ?? (j.started ? (Date.parse(j.ended || j.at) - Date.parse(j.resumed && Date.parse(j.resumed) > Date.parse(j.started) ? j.resumed : j.started)) / 1000 : 0);
  const rows = [];
  if (j.expected) rows.push(["start", { low_s: 0, up_s: j.expected.start_s, actual_s: j.wait_s ?? j.waits?.for_s }]);
  if (j.predicted) rows.push(["run", { low_s: j.predicted.low_s, up_s: j.predicted.up_s, median_s: p?.median_s, actual_s: ran }]);
  if (j.expected?.turnaround_s) rows.push(["turnaround", { low_s: 0, up_s: j.expected.turnaround_s, actual_s: j.turnaround_s ?? so(j.elapsed_s) }]);
  for (const s of p?.stages || []) rows.push([`· ${s.stage}`, { low_s: s.low_s, up_s: s.up_s, actual_s: took(j, s.stage) }]);
  if (rows.length === 0) return h("p", { class: "dim wrap" }, `Nothing was predicted${doc.plan.source ? ": " + doc.plan.source : ""}.`);
  return [
    h("div", { class: "scroll" }, h("table", {}, head(["", "", "Predicted", "Median", final(j.state) ? "Actual" : "So far", ""], 2),
      h("tbody", {}, rows.map(([name, r]) => h("tr", { key: name }, h("td", { class: "keep" }, name), h("td", { class: "grow" }, scale(r)), cell(r.low_s ? span(r.low_s, r.up_s) : duration(r.up_s)),
        cell(duration(r.median_s)), cell(r.actual_s ? duration(r.actual_s) : ""), cell(name === "run" && r.actual_s && j.actual_s ? off(r) : "")))))),
    h("p", { class: "dim small wrap" }, `${by ? `By ${by}. ` : ""}The band is what was predicted, the thin line its median, the thick one what came.`),
  ];
}

// took returns how long the phase lasted that a stage of the prediction is about.
function took(j, stage) {
  const of = { tasks: "compute", map: "map", reduce: "reduce" }[stage], p = j.phases.find((x) => x.phase === of);
  return p?.first_start && p.last_end && p.done === p.total ? (Date.parse(p.last_end) - Date.parse(p.first_start)) / 1000 : undefined;
}

function throughput(doc, ui) {
  const t = doc.throughput, bytes = t.bytes_s.some((b) => b > 0);
  if (t.tasks_s.length === 0) return null;
  const x = spread(t.tasks_s.length, t.start_ms, t.step_ms, origin(doc));
  return fold(ui, "throughput", "Throughput", false, h("div", { class: "plots" },
    plot({ key: "tasks", title: "Tasks done a second", x, lines: [{ name: "tasks/s", y: t.tasks_s }], value: number }),
    bytes && plot({ key: "bytes", title: "Bytes read a second, by tasks when they are done", x, lines: [{ name: "bytes/s", y: t.bytes_s }], value: size, binary: true })));
}

const units = { cpu: ["Cores", number], mem: ["Memory", size], disk: ["Disk, bytes a second", size], net: ["Network, bytes a second", size] };

function usage(doc, ui) {
  const u = doc.usage;
  if (!u.start_ms) return null;
  const of = (r) => u.series.map((s) => s.used[r]);
  return fold(ui, "usage", "Use of nodes", false, h("p", { class: "dim small" }, "Phases count once they are over."), h("div", { class: "plots four" },
    Object.entries(units).map(([r, [title, value]]) => {
      const capacity = Math.max(...of(r).map((v) => v.capacity)), most = Math.max(0, ...of(r).flatMap((v) => v.used)), unknown = of(r).some((v) => v.unmeasured);
      return plot({
        key: r, title: `${title}${capacity ? `, of ${value(capacity)}${u.heat ? "" : " a node"}` : ""}${unknown ? "; not measured everywhere" : ""}`, x: spread(of(r)[0].used.length, u.start_ms, u.step_s * 1000, origin(doc)),
        lines: u.series.map((s) => ({ name: s.name, y: s.used[r].used })), value, top: most > capacity / 4 ? capacity : 0, least: r === "cpu" ? 0.1 : 1024, binary: r !== "cpu",
      });
    }), u.heat && Object.entries(units).map(([r, [title]]) => heat(title, u.heat.names, u.heat.rows[r]))));
}

const nodeSigns = { up: "● up", lost: "◌ lost", gone: "○ gone", unknown: "? unknown" };

function nodes(doc, ui) {
  const j = doc.job;
  if (j.nodes.length === 0) return null;
  const gpus = j.nodes.some((n) => n.gpus);
  const took = new Map(doc.usage.nodes.map((n) => [n.node, n.of]));
  const use = (n, r, words) => {
    const t = took.get(n.node)?.[r];
    return t ? t.unmeasured ? "–" : `${words(t.mean)}, ${words(t.max)}` : "";
  };
  return fold(ui, "nodes", things(j.nodes.length, "node"), false, h("div", { class: j.nodes.length > 16 ? "scroll tall" : "scroll", tabindex: j.nodes.length > 16 ? 0 : null }, h("table", {},
    head(["Node", "Host", "State", "Cores", ...(gpus ? ["GPUs"] : []), "Memory", "Running", "Done", "Failed", "Cores used: mean, max", "Memory", "Disk", "Network"], 3),
    h("tbody", {}, j.nodes.map((n) => h("tr", { key: n.node }, h("td", { class: "keep" }, n.node), h("td", { class: "keep" }, n.host),
      h("td", { class: "keep" }, nodeSigns[n.state] || n.state, final(j.state) && n.state === "up" ? " at the end" : null, n.reason && n.state !== "up" ? h("div", { class: "dim small" }, n.reason) : null),
      [n.cpus ? count(n.cpus) : "", ...(gpus ? [n.gpus ? `${count(n.gpus)} ${n.gpu_type || ""}`.trim() : ""] : []), n.mem_bytes ? size(n.mem_bytes) : "", n.running ? count(n.running) : "", count(n.done), n.failed ? count(n.failed) : "",
        use(n, "cpu", number), use(n, "mem", size), use(n, "disk", size), use(n, "net", size)].map(cell)))))));
}

function attempts(j, ui) {
  if (j.running.length === 0) return null;
  return fold(ui, "running", `Running attempts${j.running.length < j.tasks_running ? `, the ${j.running.length} longest` : ""}`, true, h("div", { class: "scroll" }, h("table", {},
    head(["Task", "Input", "Node", "Phase", "", "Progress", "For", "Expected end"], 5),
    h("tbody", {}, j.running.map((r) => h("tr", { key: `${r.task}#${r.attempt}` }, h("td", { class: "keep" }, `${r.name}${r.attempt > 1 ? ` #${r.attempt}` : ""}${r.duplicate ? " (duplicate)" : ""}`),
      h("td", { class: "wrap" }, r.input || "", j.kind === "bag" && printed(j.id, r)), h("td", { class: "keep" }, r.shares?.length > 1 ? `${r.node} +${r.shares.length - 1}` : r.node), h("td", { class: "keep" }, r.phase, r.status ? h("div", { class: "dim small" }, r.status) : null),
      h("td", { class: "grow" }, r.progress !== undefined ? bar(r.progress, `progress of task ${r.name}`) : null), cell(r.progress !== undefined ? percent(r.progress) : ""), cell(duration(r.seconds)),
      cell(r.end_expected ? clock(r.end_expected) : "")))))));
}

// firstFailures is how many failures are shown at once, so that what follows them is in sight.
const firstFailures = 5;

function failures(j, ui) {
  if (j.failures_total === 0) return null;
  const all = [...j.failures].reverse(), more = all.slice(firstFailures);
  return h("section", { key: "failures" }, h("h2", {}, `Failures${j.failures.length < j.failures_total ? `, the last ${j.failures.length} of ${count(j.failures_total)}` : ""}`),
    all.slice(0, firstFailures).map(failure), more.length > 0 && fold(ui, "failures", `${count(more.length)} earlier`, false, more.map(failure)));
}

function failure(f) {
  const then = f.final ? "; it is not tried again" : f.left > 0 ? "; it is tried again" : "";
  return h("div", { key: String(f.seq) },
    h("p", { class: "wrap" }, `✗ task ${f.name}${f.input ? " (" + f.input + ")" : ""}, attempt ${f.attempt} on ${f.node}: ${f.reason}${then}`),
    f.stderr && h("details", {}, h("summary", {}, "standard error"), h("pre", {}, f.stderr)));
}
