// What a job asked of a batch system's queue or of a provider of machines, and what it has there.
import { h } from "./dom.js";
import { front } from "./front.js";
import { color, plot } from "./plots.js";
import { clock, count, duration, final, percent, things } from "./words.js";

export function queueSections(doc) {
  return [rented(doc.rented, doc.job), outlook(doc.plan), allocations(doc.job), plans(doc.job)];
}

function rented(r, j) {
  if (!r) return null;
  const limits = [r.budget ? `a budget of ${r.budget}` : "", r.deadline_s ? `a deadline of ${duration(r.deadline_s)}` : ""].filter(Boolean).join(" and ");
  return h("section", { key: "rented" }, h("h2", {}, "Rented machines"),
    h("p", {}, `${r.types.map((t) => `${t.count} × ${t.name}${t.price ? ` at ${t.price} an hour` : ""}`).join(", ")}${limits ? "; " + limits : ""}`),
    r.problem && h("p", { class: "notice" }, r.problem),
    r.machines.length > 0 && h("div", { class: "scroll" }, h("table", {}, heads(["Machine", "Type", "State", "Region", "For", "Cost so far"], 4, 0),
      h("tbody", {}, r.machines.map((m) => h("tr", { key: m.id }, [m.id, m.type, m.state, m.region].map((t) => h("td", { class: "keep" }, t)), [duration(Math.round(m.seconds)), m.cost.toFixed(2)].map((t) => h("td", { class: "num" }, t)))),
        h("tr", { class: "chosen" }, h("td", {}, things(r.machines.length, "machine")), h("td", { colspan: 4 }), h("td", { class: "num" }, r.cost.toFixed(2)))))),
    front(r, j));
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

function outlook(plan) {
  const o = plan.outlook;
  if (!o || o.timeline.length === 0) return null;
  const at = plan.at_ns / 1e9, chosen = o.slots.filter((s) => s.chosen && s.start_ns);
  const last = Math.max(o.timeline[o.timeline.length - 1].start_ns / 1e9 - at, ...o.slots.filter((s) => s.wait_s !== null).map((s) => s.wait_s + (s.time_ns / 1e9 || s.run_s || 0)), 60);
  const x = [...o.timeline.map((s) => Math.max(0, s.start_ns / 1e9 - at)), last * 1.1], y = o.timeline.map((s) => Math.max(0, s.free));
  return h("section", { key: "queue" }, h("h2", {}, `The queue of partition ${o.partition} when the job was planned, and what was chosen`),
    plot({ key: "free", title: "Free nodes from then on; boxes are what was asked for", x, lines: [{ name: "free nodes", y: [...y, y[y.length - 1]] }], value: (n) => Number.isInteger(n) ? count(n) : "", stepped: true, height: 170, top: o.nodes, over: (u) => boxes(u, chosen) }),
    plan.start ? h("p", { class: "dim small wrap" }, `By the run times of ${things(plan.start.history_jobs, "job")} in this queue${plan.start.own_starts ? `, and your last ${things(plan.start.own_starts, "start")},` : ""} the first of them begins after ${duration(plan.start.median)}, and in four of five cases after ${duration(plan.start.low)} to ${duration(plan.start.high)}.`) : null,
    plan.reasons.slice(1).map((r) => h("p", { class: "dim small wrap" }, r)),
    h("div", { class: "scroll" }, h("table", {}, heads(["", "Start", "Nodes", "For", "Take", "Time", "Wait", "Run", "Turnaround", "Risk", "Why"], 2, 1),
      h("tbody", {}, o.slots.map((s) => h("tr", { class: s.chosen ? "chosen" : null },
        h("td", { class: "keep" }, s.chosen ? "✓ " + (letters[chosen.indexOf(s)] || "") : ""), h("td", { class: "keep" }, s.start_ns ? clock(s.start_ns / 1e6) : "never"),
        [count(s.nodes), s.duration_ns === null ? "no end" : duration(s.duration_ns / 1e9), s.take_nodes ? `${s.take_nodes}×${s.per_node.cpus}` : "", s.time_ns ? duration(s.time_ns / 1e9) : "no limit",
          s.wait_s === null ? "never" : duration(s.wait_s), s.run_s ? duration(s.run_s) : "", s.turnaround_s ? duration(s.turnaround_s) : "", s.run_s ? percent(s.timeout_share) : ""].map((t) => h("td", { class: "num" }, t)),
        h("td", { class: "wrap" }, s.why)))))));
}

const heads = (texts, left, right) => h("thead", {}, h("tr", {}, texts.map((t, i) => h("th", { class: i >= left && i < texts.length - right ? "num" : null }, t))));

// boxes draws the chosen allocations into the chart: nodes by wall time, or by the expected run where there is no limit.
function boxes(u, chosen) {
  const c = u.ctx, ratio = devicePixelRatio || 1;
  c.save();
  c.font = `${11 * ratio}px system-ui, DejaVu Sans, sans-serif`;
  chosen.forEach((s, i) => {
    const from = Math.max(0, s.wait_s || 0), left = u.valToPos(from, "x", true), right = u.valToPos(from + (s.time_ns / 1e9 || s.run_s || 60), "x", true);
    const top = u.valToPos(s.take_nodes, "y", true), bottom = u.valToPos(0, "y", true);
    c.fillStyle = color("--c1") + "33";
    c.strokeStyle = color("--c1");
    c.lineWidth = 1.5 * ratio;
    c.fillRect(left, top, right - left, bottom - top);
    c.strokeRect(left, top, right - left, bottom - top);
    c.fillStyle = color("--text");
    c.textBaseline = "top";
    c.textAlign = "left";
    c.fillText(letters[i] || "", left + 4 * ratio, top + 3 * ratio);
  });
  c.restore();
}

const signs = { waiting: "○ waiting", running: "▸ running", over: "✓ over" };

function allocations(j) {
  const over = final(j.state); // what becomes of an allocation after that is no part of the job
  if (j.allocs.length === 0) return null;
  return h("section", { key: "allocs" }, h("h2", {}, `Allocations${j.allocs.length < j.allocs_total ? `, the last ${j.allocs.length} of ${count(j.allocs_total)}` : ""}`), h("div", { class: "scroll" }, h("table", {},
    heads(["", "Partition", "State", "Nodes", "Time", "Asked for", "Began", "Ends", "Ended", ""], 3, 1),
    h("tbody", {}, j.allocs.map((a) => h("tr", { key: a.alloc }, h("td", {}, a.alloc), h("td", {}, a.partition || ""), h("td", { class: "keep" }, (signs[a.state] || a.state) + (over && a.state === "running" ? " at the end" : "")),
      [`${count(a.nodes_up)} of ${count(a.nodes)} up`, a.time_s ? duration(a.time_s) : "no limit", clock(a.requested), clock(a.began) || (a.expected_start ? "about " + clock(a.expected_start) : ""), clock(a.ends), clock(a.ended)]
        .map((t) => h("td", { class: "num" }, t)),
      h("td", { class: "wrap" }, a.note || a.reason || "")))))));
}

function plans(j) {
  if (j.plans.length === 0) return null;
  return h("section", { key: "plans" }, h("h2", {}, `Plans for what was left (${things(j.plans_total, "plan")} in all)`),
    j.plans.map((p) => h("p", { class: "wrap" }, h("span", { class: "dim" }, clock(p.at) + " "), p.decision)));
}
