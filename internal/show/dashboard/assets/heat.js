// The use of many nodes over time: a row for each node or group of nodes, darker where more is used.
import { h } from "./dom.js";
import { color } from "./plots.js";

const height = 9; // of a row, in pixels

// heat describes the map of a resource. Each row is a text with a hexadecimal digit for each step, "." where nothing is known.
export function heat(title, names, rows) {
  return h("div", { class: "heat", key: title }, h("h3", {}, `${title} of each node; darker is more`),
    h("canvas", { role: "img", "aria-label": `${title} of ${names.length} rows of nodes over time`, draw: (el) => paint(el, rows), onmousemove: (e) => tell(e, names), title: names.length === 1 ? names[0] : "" }));
}

function paint(el, rows) {
  const width = Math.floor(el.parentElement.clientWidth), ratio = devicePixelRatio || 1;
  if (width < 40) return;
  const seen = rows.join() + width + ratio + color("--bar");
  if (el.seen === seen) return;
  el.seen = seen;
  el.width = width * ratio;
  el.height = rows.length * height * ratio;
  el.style.width = width + "px";
  el.style.height = rows.length * height + "px";
  const c = el.getContext("2d");
  c.scale(ratio, ratio);
  c.fillStyle = color("--track");
  c.fillRect(0, 0, width, rows.length * height);
  c.fillStyle = color("--bar");
  rows.forEach((row, y) => [...row].forEach((digit, x) => {
    if (digit === "." || digit === "0") return;
    c.globalAlpha = parseInt(digit, 16) / 15;
    const from = Math.floor(x * width / row.length);
    c.fillRect(from, y * height, Math.floor((x + 1) * width / row.length) - from, height - 1);
  }));
}

function tell(e, names) {
  const name = names[Math.min(names.length - 1, Math.floor(e.offsetY / height))];
  if (e.target.title !== name) e.target.title = name;
}
