// The page: which of its views is shown, its stream of changes, and the keyboard.
import { applyTo } from "./changes.js";
import { h, show } from "./dom.js";
import { jobsPage } from "./jobs.js";
import { jobPage } from "./job.js";
import { historyPage } from "./history.js";

const main = document.getElementById("main"), link = document.getElementById("link");
const ui = { ids: [], at: null, window: null, look, search: "", folds: {}, draw: () => draw() };
let source = null, doc = null, at = "", drawn = 0;

if (location.search) history.replaceState(null, "", location.pathname + location.hash); // the cookie has the token now

function wanted() {
  const [, page, id] = location.hash.split("/");
  if (page === "job" && id) return { page, id };
  return { page: page === "history" ? page : "jobs" };
}

// look opens the stream of what the address and the window of the timeline say.
function look() {
  const want = wanted(), place = JSON.stringify(want);
  if (place !== at) {
    ui.window = null;
    ui.at = want.id || ui.at;
    doc = null;
    scrollTo(0, 0);
  }
  at = place;
  document.querySelectorAll("nav a").forEach((a) => a.dataset.page === want.page ? a.setAttribute("aria-current", "page") : a.removeAttribute("aria-current"));
  document.title = want.id ? want.id + " · berth" : "berth";
  if (source) source.close();
  const stream = source = new EventSource("events?" + new URLSearchParams({ ...want, ...ui.window }));
  say("connecting …");
  stream.addEventListener("whole", (e) => { doc = JSON.parse(e.data); changed(); });
  stream.addEventListener("changes", (e) => { doc = applyTo(doc, JSON.parse(e.data)); changed(); });
  stream.onopen = () => say("● live");
  stream.onerror = () => say(stream.readyState === EventSource.CLOSED ? "○ not allowed, or gone: run berth dashboard again" : "○ no connection; trying again …");
}

function say(text) { if (link.textContent !== text) link.textContent = text; }

// changed shows the document once the browser is ready to, however many changes came.
function changed() {
  if (drawn) return;
  drawn = requestAnimationFrame(() => { drawn = 0; draw(); });
}

function draw() {
  if (!doc) return;
  globalThis.berth = { document: doc }; // for whoever looks with the browser's tools, and for tests
  if (doc.problem) show(main, [h("p", { class: "notice bad" }, doc.problem)]);
  else if (doc.page === "job") show(main, [h("article", { key: doc.job.id }, ...jobPage(doc, ui))]);
  else if (doc.page === "history") show(main, historyPage(doc, ui));
  else show(main, jobsPage(doc, ui));
}

function step(by) {
  if (ui.ids.length === 0) return;
  const i = ui.ids.indexOf(ui.at);
  ui.at = ui.ids[Math.max(0, Math.min(ui.ids.length - 1, i < 0 ? 0 : i + by))];
  if (wanted().page === "job") location.hash = "#/job/" + ui.at;
  else {
    draw();
    document.querySelector(`[data-job="${ui.at}"]`)?.focus();
  }
}

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select")) return;
  if (e.key === "j") step(1);
  else if (e.key === "k") step(-1);
  else if (e.key === "u") location.hash = "#/";
  else if (e.key === "p") location.hash = "#/history";
});
addEventListener("hashchange", look);
addEventListener("resize", changed);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
look();
