// The timeline of nodes and tasks, on a canvas. The server has brought it down to cells (timeline.go).
import { h } from "./dom.js";
import { color } from "./plots.js";
import { count, duration, things } from "./words.js";

const failed = 1, lost = 2, killed = 4, duplicate = 8, running = 16;

// How much of a lane's height a phase takes: phases differ by more than their colours.
const heights = { fetch: 0.4, compute: 1, store: 0.4, map: 1, merge: 0.6, shuffle: 0.35, sort: 0.65, reduce: 1 };

const view = { cursor: null, drag: null }; // of the one timeline that is shown

function parse(text) {
  const f = text.split(" ");
  const [begin, steps, phase, busy, marks, began, n] = f.map(Number);
  return { begin, steps, phase, busy, marks, began, n: f.length > 6 ? n : 0, name: f.slice(7).join(" ") };
}

export function timeline(doc, ui) {
  const t = doc.timeline;
  if (t.attempts === 0) return h("p", { class: "dim" }, "No task has begun yet.");
  const used = new Set(t.lanes.flatMap((l) => l.cells.map((c) => Number(c.split(" ", 3)[2]))));
  return h("div", { class: "timeline", key: "timeline" },
    h("div", { class: "legend" }, [...used].sort((a, b) => a - b).map((p) => sample(t.phases[p], p, 0)),
      sample("failed ×", used.values().next().value, failed), sample("lost", used.values().next().value, lost), sample("ended by berth", used.values().next().value, killed),
      sample("duplicate", used.values().next().value, duplicate)),
    h("canvas", {
      key: "canvas", tabindex: 0, role: "img", "aria-label": `Timeline of ${things(t.attempts, "attempt")} on ${things(t.lanes.length, "lane")}`, "aria-describedby": "said",
      draw: (el) => paint(el, doc),
      onmousemove: (e) => hover(e, doc), onmouseleave: (e) => { view.drag = null; point(e.target, doc, null); },
      onmousedown: (e) => { view.drag = place(e, doc); }, onmouseup: (e) => drop(e, doc, ui), ondblclick: () => zoom(ui, null),
      onkeydown: (e) => key(e, doc, ui),
    }),
    h("p", { class: "said small", id: "said", "aria-live": "polite" }, view.cursor ? words(doc) : hint(doc, ui)));
}

const hint = (doc, ui) => h("span", { class: "dim" }, `${things(doc.timeline.attempts, "attempt")}${doc.reading ? " so far, the journal is being read" : ""}${ui.window ? "; a part of the time is shown, double click or 0 shows all" : "; drag to see a part of the time"}`);

// sample is an entry of the legend, with a piece of a lane.
function sample(text, phase, marks) {
  return h("span", { key: text }, h("canvas", {
    draw: (el) => {
      const c = context(el, 22, 12);
      bar(c, 0, 1, 22, 10, phase, marks, 10, text.split(" ")[0]);
    },
  }), text);
}

function context(el, width, height) {
  const ratio = devicePixelRatio || 1;
  if (el.width !== Math.round(width * ratio) || el.height !== Math.round(height * ratio)) {
    el.width = Math.round(width * ratio);
    el.height = Math.round(height * ratio);
    el.style.height = height + "px";
    if (width < 40) el.style.width = width + "px";
  }
  const c = el.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  return c;
}

// bar draws one cell.
function bar(c, x, y, w, lane, phase, marks, busy, name) {
  const tall = Math.max(2, lane * (heights[name] ?? 1) * (0.35 + 0.065 * busy)), top = y + (lane - tall) / 2, wide = Math.max(1, w);
  const fill = color(`--p${phase}`);
  if (marks & lost) { // hollow
    c.strokeStyle = fill;
    c.lineWidth = 1;
    c.strokeRect(x + 0.5, top + 0.5, Math.max(1, wide - 1), Math.max(1, tall - 1));
  } else {
    c.fillStyle = fill;
    c.fillRect(x, top, wide, tall);
  }
  if (marks & killed) stripes(c, x, top, wide, tall);
  if (marks & duplicate) {
    c.fillStyle = color("--text");
    c.fillRect(x, top + tall - 2, wide, 2);
  }
  if (marks & failed) cross(c, x + wide, y + lane / 2, Math.min(5, lane / 2));
}

function stripes(c, x, y, w, tall) {
  c.save();
  c.beginPath();
  c.rect(x, y, w, tall);
  c.clip();
  c.strokeStyle = color("--back");
  c.lineWidth = 1.5;
  c.beginPath();
  for (let k = x - tall; k < x + w; k += 5) { c.moveTo(k, y + tall); c.lineTo(k + tall, y); }
  c.stroke();
  c.restore();
}

function cross(c, right, y, r) {
  const x = Math.max(right - r - 1, r);
  c.strokeStyle = color("--back");
  c.lineWidth = 4;
  for (const wide of [4, 2]) {
    c.lineWidth = wide;
    c.strokeStyle = wide === 4 ? color("--back") : color("--bad");
    c.beginPath();
    c.moveTo(x - r, y - r); c.lineTo(x + r, y + r); c.moveTo(x - r, y + r); c.lineTo(x + r, y - r);
    c.stroke();
  }
}

// frame is where things are on the canvas.
function frame(el, t) {
  const width = el.clientWidth || 600, left = Math.min(110, Math.max(48, 8 + 7 * Math.max(...t.lanes.map((l) => label(l).length))));
  const lane = t.lanes.length > 32 ? 9 : t.lanes.length > 12 ? 13 : 18;
  return { width, left, lane, step: (width - left - 6) / Math.max(1, t.steps), height: t.lanes.length * lane + 20 };
}

const label = (l) => l.to ? l.node + " …" : l.node;

function paint(el, doc) {
  const t = doc.timeline, f = frame(el, t), c = context(el, f.width, f.height);
  c.font = "11px system-ui, DejaVu Sans, sans-serif";
  axis(c, doc, f);
  let named = -20;
  t.lanes.forEach((l, i) => {
    const y = i * f.lane;
    if (i === 0 || l.node !== t.lanes[i - 1].node) {
      c.fillStyle = color("--line");
      if (i > 0) c.fillRect(0, y, f.width, 1);
      c.fillStyle = color("--dim");
      c.textBaseline = "middle";
      c.textAlign = "left";
      if (y - named >= 13) c.fillText(label(l), 0, y + Math.max(f.lane / 2, 6), f.left - 6);
      if (y - named >= 13) named = y;
    }
    for (const text of l.cells) {
      const cell = parse(text), w = cell.steps * f.step;
      bar(c, f.left + cell.begin * f.step, y + 2, w - (w > 3 ? 1 : 0), f.lane - 3, cell.phase, cell.marks, cell.busy, t.phases[cell.phase]);
    }
  });
  mark(c, doc, f);
}

function axis(c, doc, f) {
  const t = doc.timeline, whole = t.steps * t.step_ms / 1000, since = (t.start_ms - origin(doc)) / 1000;
  const every = nice(whole / Math.max(2, (f.width - f.left) / 90));
  c.textBaseline = "bottom";
  c.textAlign = "center";
  for (let s = Math.ceil(since / every) * every; s <= since + whole; s += every) {
    const x = f.left + (s - since) * 1000 / t.step_ms * f.step;
    c.fillStyle = color("--line");
    c.fillRect(Math.round(x), 0, 1, f.height - 18);
    c.fillStyle = color("--dim");
    if (x < f.width - 20) c.fillText(s < 1e-9 ? "0" : duration(Math.round(s * 1000) / 1000), x, f.height);
  }
}

function nice(s) {
  for (const step of [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400]) if (step >= s) return step;
  return Math.ceil(s / 86400) * 86400;
}

// origin is the instant from which times are counted: that of the first attempt.
export const origin = (doc) => doc.job.started ? Date.parse(doc.job.started) : doc.timeline.start_ms;

function mark(c, doc, f) {
  const at = view.cursor && doc.timeline.lanes[view.cursor.lane];
  if (!at) return;
  const cell = at.cells[view.cursor.cell] && parse(at.cells[view.cursor.cell]);
  if (!cell) return;
  c.strokeStyle = color("--text");
  c.lineWidth = 1.5;
  c.strokeRect(f.left + cell.begin * f.step - 1, view.cursor.lane * f.lane + 0.5, Math.max(4, cell.steps * f.step + 1), f.lane - 0.5);
}

// words says what is under the cursor.
function words(doc) {
  const t = doc.timeline, l = t.lanes[view.cursor.lane], cell = l?.cells[view.cursor.cell] && parse(l.cells[view.cursor.cell]);
  if (!cell) return "";
  const at = (k) => duration(Math.max(0, (t.start_ms + k * t.step_ms - origin(doc)) / 1000)), host = doc.job.nodes.find((n) => n.node === l.node)?.host;
  const where = `${label(l)}${host ? " (" + host + ")" : ""}`, when = `${at(cell.begin)} to ${at(cell.begin + cell.steps)}`;
  const what = [[failed, "failed"], [lost, "lost"], [killed, "ended by berth"], [duplicate, "duplicate"], [running, "running"]].filter(([m]) => cell.marks & m).map(([, w]) => w);
  if (cell.n) return `task ${cell.name}, attempt ${cell.n}: ${[t.phases[cell.phase], ...what].join(", ")}, ${when}, on ${where}`;
  return `${cell.began ? things(cell.began, "attempt") + " began" : "several attempts"}, mostly ${[t.phases[cell.phase], ...what].join(", ")}; slots ${count(cell.busy * 10)} % busy; ${when}, on ${where}`;
}

function point(el, doc, cursor) {
  if (JSON.stringify(cursor) === JSON.stringify(view.cursor)) return;
  view.cursor = cursor;
  paint(el, doc);
  const said = document.getElementById("said");
  if (said) said.textContent = cursor ? words(doc) : "";
}

// place returns the lane and the step under the mouse.
function place(e, doc) {
  const f = frame(e.target, doc.timeline), box = e.target.getBoundingClientRect();
  return { lane: Math.floor((e.clientY - box.top) / f.lane), step: (e.clientX - box.left - f.left) / f.step };
}

function hover(e, doc) {
  const at = place(e, doc), cells = doc.timeline.lanes[at.lane]?.cells || [];
  const cell = cells.findIndex((c) => { const p = parse(c); return p.begin <= at.step && at.step < p.begin + p.steps; });
  point(e.target, doc, cell < 0 ? null : { lane: at.lane, cell });
}

function drop(e, doc, ui) {
  const from = view.drag, to = place(e, doc);
  view.drag = null;
  if (from && Math.abs(from.step - to.step) * frame(e.target, doc.timeline).step > 6) {
    part(doc, ui, Math.min(from.step, to.step), Math.max(from.step, to.step));
  }
}

// part shows the time between two steps.
function part(doc, ui, from, to) {
  const t = doc.timeline, ms = (k) => Math.round(t.start_ms + k * t.step_ms), first = Math.floor(origin(doc));
  const begin = Math.max(first, ms(from)), end = Math.max(begin + 2, ms(to));
  zoom(ui, { from: begin, to: end });
}

function zoom(ui, window) {
  if (!window && !ui.window) return;
  ui.window = window;
  view.cursor = null;
  ui.look();
}

function key(e, doc, ui) {
  const t = doc.timeline, at = view.cursor || { lane: 0, cell: -1 }, cells = t.lanes[at.lane]?.cells || [];
  const here = cells[at.cell] ? parse(cells[at.cell]) : null, middle = here ? here.begin + here.steps / 2 : t.steps / 2;
  const near = (lane) => {
    const p = (t.lanes[lane]?.cells || []).map(parse);
    const k = p.findIndex((c) => c.begin + c.steps > middle);
    return { lane, cell: k < 0 ? p.length - 1 : k };
  };
  switch (e.key) {
    case "ArrowRight": point(e.target, doc, { lane: at.lane, cell: Math.min(cells.length - 1, at.cell + 1) }); break;
    case "ArrowLeft": point(e.target, doc, { lane: at.lane, cell: Math.max(0, at.cell - 1) }); break;
    case "ArrowDown": point(e.target, doc, near(Math.min(t.lanes.length - 1, at.lane + 1))); break;
    case "ArrowUp": point(e.target, doc, near(Math.max(0, at.lane - 1))); break;
    case "+": case "=": part(doc, ui, middle - t.steps / 4, middle + t.steps / 4); break;
    case "-": part(doc, ui, middle - t.steps, middle + t.steps); break;
    case "0": case "Escape": zoom(ui, null); break;
    default: return;
  }
  e.preventDefault();
}
