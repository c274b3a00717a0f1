// The times of attempts as points: one an attempt, by when it began. The server has thinned them out (scatter.go).
import { h } from "./dom.js";
import { plot } from "./plots.js";
import { origin } from "./timeline.js";
import { count, duration } from "./words.js";

const dot = (size) => ({ width: 0, paths: () => null, fill: undefined, points: { show: true, size } });
const ends = [[16, "running"], [1, "failed"], [2, "lost"], [4, "ended by berth"], [8, "duplicate, done"]]; // the first that fits

export function scatter(doc, ui) {
  const s = doc.scatter, from = origin(doc);
  const points = s.points.map((text) => text.split(" ").map(Number));
  const hosts = new Map(doc.job.nodes.map((n) => [n.node, n.host]));
  const nodes = [...s.nodes.map((n) => hosts.get(n) ? `${n} (${hosts.get(n)})` : n), "other nodes"];
  const kinds = doc.job.kind === "bag" ? ["done", "done"] : ["map done", "reduce done"];
  const name = ui.byNode ? (p) => nodes[p[4]] : ([, , marks, reduce]) => (ends.find(([m]) => marks & m) || [0, kinds[reduce]])[1];
  const names = (ui.byNode ? nodes : [...new Set(kinds), ...ends.map(([, e]) => e)]).filter((n) => points.some((p) => name(p) === n));
  const choice = (by, what) => h("button", { key: what, "aria-pressed": String(!!ui.byNode === by), onclick: () => { ui.byNode = by; ui.draw(); } }, what);
  return [
    h("p", { class: "legend" }, "Colour:", choice(false, "by end"), choice(true, "by node, the slowest first"),
      h("span", {}, `${count(points.length)} of ${count(s.attempts)} attempts are drawn${points.length < s.attempts ? ": where several would lie on one another, the one that ended worst, or else took longest" : ""}.`)),
    plot({
      key: "scatter", title: "Time that each attempt took, by when it began", x: points.map(([at]) => (at - from) / 1000), value: (t) => duration(t), timed: true, height: 230, acrossName: "began after",
      lines: names.map((n) => ({ name: n, y: points.map((p) => name(p) === n ? p[1] / 1000 : null), options: dot(n.startsWith("map") || n === "done" || ui.byNode ? 5 : 7) })),
    }),
  ];
}
