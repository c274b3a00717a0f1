// Lines over time, by uPlot.
import { h } from "./dom.js";
import { duration } from "./words.js";

export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3], [10, 4], [4, 4], [1, 3], [12, 3, 2, 3, 2, 3]]; // lines differ by more than their colours

const binary = Array.from({ length: 60 }, (_, i) => 2 ** i); // steps of an axis for bytes

const times = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 604800];

// plot describes a plot. p has: key, title, x (seconds), lines [{name, y}], value (how a number is written), and, where they are wanted, top
// (the scale goes up to it at least), least (likewise where values are small), binary (values are bytes), timed (values are seconds), stepped, height, over (draws on top), across (how x is written, and its name).
export function plot(p) {
  return h("div", { class: "plot", key: p.key }, h("h3", {}, p.title), h("div", { role: "img", "aria-label": p.title, draw: (el) => draw(el, p) }));
}

function draw(el, p) {
  const width = Math.floor(el.clientWidth), names = p.lines.map((l) => l.name).join() + width + color("--text") + p.title;
  if (width < 40) return;
  const data = [p.x, ...p.lines.map((l) => l.y)];
  el.over = p.over;
  if (el.plot && el.names === names) {
    const same = el.data && el.data.length === data.length && el.data.every((d, i) => d.length === data[i].length && d.every((v, k) => v === data[i][k]));
    if (!same) el.plot.setData(data.map((d) => d.slice()));
    el.data = data.map((d) => d.slice()); // documents are changed in place
    return;
  }
  if (el.plot) el.plot.destroy();
  el.names = names;
  el.data = data.map((d) => d.slice());
  el.plot = new uPlot(options(el, p, width), data.map((d) => d.slice()), el);
}

function options(el, p, width) {
  const axis = { stroke: color("--dim"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, DejaVu Sans, sans-serif" };
  const across = p.across || ((t) => t === 0 ? "0" : duration(t));
  const paths = p.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined;
  return {
    width, height: p.height || 130, padding: [6, 8, 0, 0],
    cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false } },
    legend: { live: width > 260 },
    scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low || 0), Math.max(p.top || 0, (high || 0) * 1.05, p.least || 0) || 1] } },
    axes: [
      { ...axis, size: 24, space: 60, incrs: p.across ? undefined : times, values: (_, ticks) => ticks.map(across) },
      { ...axis, size: 52, space: 26, incrs: p.binary ? binary : p.timed ? times : undefined, values: (_, ticks) => ticks.map((t) => p.value(t)) },
    ],
    series: [{ label: p.acrossName || "after", value: (_, v) => v === null || v === undefined ? "" : across(v) },
      ...p.lines.map((l, i) => ({
        label: l.name, stroke: color(`--c${i % 8}`), width: 1.5, dash: dashes[i % 8], paths, points: { show: false },
        fill: p.lines.length === 1 ? color(`--c${i}`) + "22" : undefined, value: (_, v) => v === null || v === undefined ? "" : p.value(v),
        ...(l.options || {}),
      }))],
    hooks: { draw: [(u) => el.over && el.over(u)] },
  };
}

// spread returns the instants of values at equal steps, in seconds since an origin: the middle of each step.
export const spread = (n, start, step, origin) => Array.from({ length: n }, (_, i) => (start + (i + 0.5) * step - origin) / 1000);
