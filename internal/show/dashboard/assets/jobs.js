// The page of all jobs.
import { h } from "./dom.js";
import { clock, count, duration, percent, state, final, things } from "./words.js";

export function bar(share, title) {
  const value = Math.max(0, Math.min(1, share || 0));
  return h("div", { class: "bar", role: "progressbar", "aria-valuenow": Math.round(value * 100), "aria-valuemin": 0, "aria-valuemax": 100, "aria-label": title },
    h("i", { style: { width: value * 100 + "%" } }));
}

export function jobsPage(doc, ui) {
  const jobs = [...doc.jobs].sort((a, b) => final(a.state) - final(b.state) || number(b.id) - number(a.id));
  const words = ui.search.toLowerCase().split(/\s+/), found = jobs.filter((j) => words.every((w) => `${j.id} ${j.name} ${j.state}`.toLowerCase().includes(w)));
  ui.ids = found.map((j) => j.id);
  const open = jobs.filter((j) => !final(j.state)).length;
  return [
    h("h1", {}, "Jobs"),
    h("p", { class: "dim" }, jobs.length === 0 ? "There are no jobs yet. berth bag or berth mapreduce begins one; it shows up here."
      : `${things(open, "job")} not over, ${count(jobs.length - open)} over${doc.more ? `; ${count(doc.more)} more are not listed` : ""}`),
    jobs.length > 0 && h("p", { key: "search" }, h("input", { type: "search", placeholder: "search: job, name, state", "aria-label": "search jobs by job, name or state",
      oninput: (e) => { ui.search = e.target.value; ui.draw(); } })),
    jobs.length > 0 && h("table", { class: "jobs", key: "jobs" },
      h("thead", {}, h("tr", {}, ["Job", "Name", "State", "Progress"].map((t) => h("th", {}, t)),
        ["Done", "Running", "Failed", "Elapsed", "ETA"].map((t) => h("th", { class: "num" }, t)))),
      h("tbody", {}, found.map((j) => row(j, ui)))),
    h("p", { class: "dim", key: "version" }, "berth " + doc.version),
  ];
}

const number = (id) => Number(id.split("-")[1]);

function row(j, ui) {
  const share = j.tasks_total > 0 ? j.tasks_done / j.tasks_total : j.state === "done" ? 1 : 0;
  return h("tr", { key: j.id, class: ui.at === j.id ? "at" : null },
    h("td", { class: "keep" }, h("a", { href: "#/job/" + j.id, "data-job": j.id }, j.id)),
    h("td", { class: "name wrap" }, j.name),
    h("td", {}, h("span", { class: "state " + j.state }, state(j.state))),
    h("td", { class: "grow" }, j.state === "done" ? h("span", { class: "dim" }, j.ended ? clock(j.ended) : "") : bar(share, `progress of ${j.id}`)),
    h("td", { class: "num", title: percent(share) }, `${count(j.tasks_done)}/${count(j.tasks_total)}`),
    h("td", { class: "num wide" }, j.tasks_running ? count(j.tasks_running) : ""),
    h("td", { class: "num wide" }, j.tasks_failed ? count(j.tasks_failed) : ""),
    h("td", { class: "num wide" }, duration(j.elapsed_s)),
    h("td", { class: "num", "data-head": j.eta_s ? "ETA" : null }, j.eta_s ? duration(Math.ceil(j.eta_s)) : ""));
}
