// What a running task has printed so far, read once a second while it is shown.
import { h } from "./dom.js";

const most = 65536; // characters that are shown, the last ones

export function printed(id, r) {
  return [["output", false], ["standard error", true]].map(([title, stderr]) =>
    h("details", { key: `${title} ${r.attempt}`, class: "printed", ontoggle: (e) => follow(e.target, { id, task: r.task, attempt: r.attempt, stderr }) },
      h("summary", {}, title), h("pre", { draw: () => {} })));
}

// follow reads until the details are closed, or are no longer part of the page.
async function follow(details, of) {
  if (!details.open || details.reads) return;
  details.reads = true;
  const pre = details.querySelector("pre"), decoder = new TextDecoder();
  let offset = 0, text = "", problem = "";
  while (details.open && details.isConnected) {
    let part = new Uint8Array();
    try {
      const answer = await fetch("printed?" + new URLSearchParams({ ...of, offset }));
      if (!answer.ok) break; // no such attempt
      part = new Uint8Array(await answer.arrayBuffer());
      problem = decodeURIComponent(answer.headers.get("Problem") || "");
    } catch {
      // the command has ended; the top of the page says so
    }
    offset += part.length;
    text = (text + decoder.decode(part, { stream: true })).slice(-most);
    pre.textContent = (offset > text.length ? "…" : "") + (text || problem || "nothing yet");
    if (part.length === 0) await new Promise((done) => setTimeout(done, 1000));
  }
  details.reads = false;
}
