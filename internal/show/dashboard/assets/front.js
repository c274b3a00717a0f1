// The front on which the rented machines of a job were chosen, and what they cost and take.
import { h } from "./dom.js";
import { color, plot } from "./plots.js";
import { duration, span, things } from "./words.js";

// money writes a small cost with two digits that tell something.
const money = (cost) => cost === 0 ? "0" : cost < 0.1 ? cost.toPrecision(2) : cost.toFixed(2);

export function front(r, j) {
  if (r.front.length === 0) return null;
  const chosen = r.front.find((p) => p.chosen), came = j.rented?.came;
  const is = came ? { name: "came", ...came } : r.cost > 0 ? { name: "so far", cost: r.cost, makespan_s: j.elapsed_s } : null;
  return [
    chart(r.front, chosen, is),
    h("p", {}, [chosen && `chosen: ${money(chosen.cost)} and ${duration(Math.round(chosen.makespan_s))} with ${chosen.machines}`, is && `${is.name}: ${money(is.cost)} and ${duration(Math.round(is.makespan_s))}`].filter(Boolean).join("; ")),
    h("details", { key: "front" }, h("summary", {}, `the front: ${things(r.front.length, "choice")} that none beats in both cost and time`), table(r.front)),
  ];
}

// chart draws the front with what was chosen and what came, or has come so far.
function chart(points, chosen, is) {
  const at = (p) => [p.cost, p.makespan_s], marks = [chosen && ["chosen", ...at(chosen)], is && [is.name, ...at(is)]].filter(Boolean);
  const x = [...new Set([...points, ...(is ? [is] : [])].map((p) => p.cost))].sort((a, b) => a - b);
  const on = (list) => x.map((cost) => list.find((p) => p.cost === cost)?.makespan_s ?? null);
  return plot({
    key: "front", title: "Time from the request until all is done, by cost: the front of the choices that were predicted", x, height: 190, across: money, acrossName: "cost", value: (s) => duration(Math.round(s)), timed: true,
    lines: [{ name: "predicted", y: on(points), options: { spanGaps: true, fill: undefined, points: { show: true, size: 5 } } }], top: is ? is.makespan_s * 1.1 : 0, over: (u) => label(u, marks),
  });
}

// label draws a sign and a word at each mark; the word is above it, and below it where the word of the mark before would be in its way.
function label(u, marks) {
  const c = u.ctx, ratio = devicePixelRatio || 1;
  c.save();
  c.font = `${11 * ratio}px system-ui, DejaVu Sans, sans-serif`;
  c.textBaseline = "middle";
  let before = null;
  marks.forEach(([name, cost, seconds], i) => {
    const x = u.valToPos(cost, "x", true), y = u.valToPos(seconds, "y", true), left = x > u.bbox.left + u.bbox.width - 60 * ratio;
    c.strokeStyle = color(i === 0 ? "--c1" : "--c2");
    c.fillStyle = color("--text");
    c.lineWidth = 2 * ratio;
    c.beginPath();
    if (i === 0) c.arc(x, y, 6 * ratio, 0, 2 * Math.PI);
    else c.rect(x - 5 * ratio, y - 5 * ratio, 10 * ratio, 10 * ratio);
    c.stroke();
    c.textAlign = left ? "right" : "left";
    const close = before && Math.abs(before.x - x) < 70 * ratio && Math.abs(before.y - y) < 16 * ratio;
    c.fillText(name, x + (left ? -10 : 10) * ratio, y + (close ? 10 : -10) * ratio);
    before = { x, y };
  });
  c.restore();
}

function table(points) {
  const heads = ["", "Cost", "Time", "10–90 %", "Machines", ""];
  return h("div", { class: points.length > 16 ? "scroll tall" : "scroll", tabindex: points.length > 16 ? 0 : null }, h("table", {},
    h("thead", {}, h("tr", {}, heads.map((t, i) => h("th", { class: i > 0 && i < 4 ? "num" : null }, t)))),
    h("tbody", {}, points.map((p) => h("tr", { class: p.chosen ? "chosen" : null }, h("td", {}, p.chosen ? "✓" : ""),
      [money(p.cost), duration(Math.round(p.makespan_s)), span(Math.round(p.low_s), Math.round(p.up_s))].map((t) => h("td", { class: "num" }, t)),
      h("td", { class: "keep" }, p.machines), h("td", { class: "dim keep" }, p.tipping ? "from here on more money buys little time" : ""))))));
}
