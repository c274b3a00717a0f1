// The page of predictions: how well they were kept.
import { h } from "./dom.js";
import { bar } from "./jobs.js";
import { plot } from "./plots.js";
import { clock, count, duration, number, percent, things } from "./words.js";

export function historyPage(doc) {
  const a = doc.accuracy;
  return [
    h("h1", {}, "Predictions"),
    h("p", { class: "dim" }, a.runs === 0 ? "No run is done yet that had a prediction. A program that runs a second time has one."
      : `${things(a.runs, "run")} with a predicted time: ${count(a.within)} ended within the bounds, ${count(a.below)} before, ${count(a.above)} after`),
    a.applications.length > 0 && h("section", { key: "errors" }, h("h2", {}, "All runs"),
      errors([["start", a.start, duration], ["run", a.run, duration], ["turnaround", a.turnaround, duration], ["cost", a.cost, cost]].filter(([, e]) => e.runs > 0), a.ends)),
    a.band.starts > 0 && h("section", { key: "band" }, h("h2", {}, `Where ${things(a.band.starts, "start")} fell beside the bands of 80 % that were predicted; the line is where calibrated ones have it`), band(a.band)),
    doc.slowness.all.attempts > 0 && h("section", { key: "slow" }, h("h2", {}, "How often nodes were slow"), slow(doc.slowness)),
    doc.runs.length > 1 && h("section", { key: "runs" }, h("h2", {}, "Time that a run took beside the upper and lower bound that were predicted"), ratios(doc.runs)),
    doc.runs.length > 0 && h("section", { key: "list" }, h("h2", {}, "Latest runs"), latest(doc.runs)),
    a.applications.length > 0 && h("section", { key: "apps" }, h("h2", {}, "Run time by application"), apps(a.applications)),
  ];
}

const heads = (texts, left) => h("thead", {}, h("tr", {}, texts.map((t, i) => h("th", { class: i >= left ? "num" : null }, t))));

function errors(rows, ends) {
  return h("div", { class: "scroll" }, h("table", {}, heads(["Predicted", "Runs", "Within", "By 10 %", "Median error", "Mean error", "Bias", "Worst"], 1),
    h("tbody", {}, rows.map(([name, e, write]) => h("tr", {}, h("td", {}, name), cells(e, write))), ends.tasks > 0 && h("tr", { key: "ends" }, h("td", {}, "end of a running task at half its time"), endCells(ends)))));
}

const endCells = (e) => [count(e.tasks), "", percent(e.near_share), percent(e.median_abs_error), "", percent(e.mean_error), ""].map((t) => h("td", { class: "num" }, t));

// band draws the shares of starts before a band, in each half of it, and after it.
function band(b) {
  return h("table", {}, h("tbody", {}, [["before", b.before, 0.1], ["lower half", b.lower, 0.4], ["upper half", b.upper, 0.4], ["after", b.after, 0.1]].map(([name, share, aim]) =>
    h("tr", {}, h("td", {}, name), h("td", { class: "num" }, percent(share)), h("td", { class: "grow" }, h("div", { class: "scale", role: "img", "aria-label": `${percent(share)}, calibrated ${percent(aim)}` },
      h("i", { class: "band", style: { left: 0, width: 100 * share + "%" } }), h("i", { class: "is", style: { left: 100 * aim + "%" } })))))));
}

const tenths = (share) => (100 * share).toFixed(1) + " %";

// slow draws the share of attempts that were slow by the hour of the day, and lists it by node.
function slow({ all, hours, hosts, none }) {
  const share = (x) => x.attempts ? x.slow / x.attempts : 0, most = Math.max(...hosts.map(share), 1e-9), of = new Map(hours.map((x) => [x.hour, x]));
  const x = Array.from({ length: 24 }, (_, hour) => hour);
  return [
    h("p", { class: "dim" }, `${count(all.slow)} of ${things(all.attempts, "attempt")}: ${tenths(share(all))}. Jobs of ${none.map((n) => count(n.tasks)).join(", ")} tasks meet no slow node with probabilities of ${none.map((n) => Number(n.probability.toPrecision(2))).join(", ")}.`),
    h("div", { class: "cols" },
      plot({ key: "hours", title: "Share of slow attempts by the hour of the day in which they ended", height: 170, x, value: tenths, least: 0.001, across: (hour) => Number.isInteger(hour) ? hour + ":00" : "", acrossName: "hour",
        lines: [{ name: "slow", y: x.map((hour) => of.has(hour) ? share(of.get(hour)) : null), options: { paths: uPlot.paths.bars({ size: [0.7, 40] }), dash: [], width: 1 } }] }),
      h("div", { class: hosts.length > 10 ? "scroll tall" : "scroll", tabindex: hosts.length > 10 ? 0 : null }, h("table", {}, heads(["Node, the slowest first", "", "Attempts", "Slow", "Share"], 2),
        h("tbody", {}, hosts.map((n) => h("tr", { key: n.host }, h("td", { class: "wrap" }, n.host), h("td", { class: "grow" }, bar(share(n) / most, `${tenths(share(n))} slow on ${n.host}`)),
          [count(n.attempts), count(n.slow), tenths(share(n))].map((t) => h("td", { class: "num" }, t)))))))),
  ];
}

const cost = (x) => x.toFixed(2);

const cells = (e, write) => [count(e.runs), percent(e.within_share), percent(e.near_share), write(e.median_abs_error_s), write(e.mean_abs_error_s), write(e.mean_error_s),
  `${write(e.worst_error_s)}${e.worst_run ? " (" + e.worst_run + ")" : ""}`].map((t) => h("td", { class: "num" }, t));

// ratios draws the actual times as parts of the predicted upper bounds, so that runs of all lengths fit one plot.
function ratios(runs) {
  return plot({
    key: "ratios", title: "Actual time over the upper bound; below 1 it was kept. The newest run is on the right.", height: 170, x: runs.map((_, i) => i + 1), value: number, top: 1.2,
    across: (i) => runs[i - 1]?.id || "", acrossName: "run",
    lines: [{ name: "actual", y: runs.map((r) => r.actual_s / r.up_s), options: { width: 0, paths: () => null, points: { show: true, size: 6 } } },
      { name: "upper bound", y: runs.map(() => 1) }, { name: "lower bound", y: runs.map((r) => r.low_s / r.up_s) }],
  });
}

function latest(runs) {
  const rows = [...runs].reverse().slice(0, 20);
  return h("div", { class: "scroll" }, h("table", {}, heads(["Job", "Name", "Ended", "", "Predicted", "Actual", "Off by"], 4),
    h("tbody", {}, rows.map((r) => h("tr", { key: r.id },
      h("td", { class: "keep" }, h("a", { href: "#/job/" + r.id }, r.id)), h("td", { class: "wrap" }, r.name), h("td", { class: "keep" }, clock(r.ended)), h("td", { class: "grow" }, scale(r)),
      h("td", { class: "num" }, `${duration(r.low_s)}–${duration(r.up_s)}`), h("td", { class: "num" }, duration(r.actual_s)), h("td", { class: "num" }, off(r)))))));
}

// scale draws an actual time (or one so far) beside a predicted range, from 0 on.
export function scale({ low_s, up_s, median_s, actual_s }) {
  const most = 1.15 * Math.max(up_s, actual_s || 0), at = (s) => (100 * s / most) + "%";
  return h("div", { class: "scale", role: "img", "aria-label": `predicted ${duration(low_s)} to ${duration(up_s)}, actual ${duration(actual_s)}` },
    h("i", { class: "band", style: { left: at(low_s), width: `max(2px, ${at(up_s - low_s)})` } }),
    median_s ? h("i", { class: "mid", style: { left: at(median_s) } }) : null,
    actual_s ? h("i", { class: "is", style: { left: at(actual_s) } }) : null);
}

export function off({ low_s, up_s, actual_s }) {
  if (actual_s > up_s) return percent(actual_s / up_s - 1) + " above";
  if (actual_s < low_s) return percent(1 - actual_s / low_s) + " below";
  return "within";
}

function apps(list) {
  const rows = [...list].sort((a, b) => b.runs - a.runs).slice(0, 30);
  return h("div", { class: "scroll" }, h("table", {}, heads(["Application", "Runs", "Within", "By 10 %", "Median error", "Mean error", "Bias", "Worst"], 1),
    h("tbody", {}, rows.filter((a) => a.run.runs > 0).map((a) => h("tr", { key: a.app }, h("td", { class: "wrap" }, a.app), cells(a.run, duration))))));
}
