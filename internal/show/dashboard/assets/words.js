// Numbers as berth's commands write them.

export function duration(s) {
  if (s === null || s === undefined || Number.isNaN(s)) return "";
  if (s < 0) return "−" + duration(-s);
  if (s === 0) return "0s";
  if (s < 0.001) return trim((s * 1000).toFixed(2)) + "ms";
  if (s < 1) return Math.min(999, Math.round(s * 1000)) + "ms";
  if (s < 59.95) return trim(s.toFixed(1)) + "s";
  if (s < 86399.5) return units(Math.round(s), [3600, 60, 1], "hms");
  return units(Math.round(s / 60), [1440, 60, 1], "dhm");
}

function trim(text) { return text.includes(".") ? text.replace(/\.?0+$/, "") : text; }

function units(n, sizes, names) {
  let out = "";
  sizes.forEach((size, i) => {
    const count = Math.floor(n / size);
    if (count > 0) out += count + names[i];
    n %= size;
  });
  return out;
}

export function size(bytes) {
  if (bytes < 1024) return Math.round(bytes) + "B";
  let v = bytes / 1024, i = 0;
  while (v >= 1023.5 && i < 5) { v /= 1024; i++; }
  return trim(v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0)) + "KMGTPE"[i];
}

export const count = (n) => Math.round(n).toLocaleString("en-US");
export const number = (n) => trim(Math.abs(n) >= 100 ? n.toFixed(0) : Math.abs(n) >= 10 ? n.toFixed(1) : n.toFixed(2));
export const percent = (share) => Math.round(share * 100) + " %";
export const span = (low, up) => duration(low) === duration(up) ? duration(low) : duration(low) + "–" + duration(up);
export const things = (n, what) => count(n) + " " + what + (n === 1 ? "" : "s");

export function clock(time) {
  if (!time) return "";
  const d = new Date(time), today = new Date().toDateString() === d.toDateString();
  const hour = d.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
  return today ? hour : d.toLocaleDateString([], { day: "numeric", month: "short" }) + " " + hour;
}

const signs = {
  queued: "○", running: "▸", stopping: "◌", finalizing: "▸", done: "✓", failed: "✗", cancelled: "⊘", interrupted: "‖", damaged: "✗",
};

// state is a state as sign and word: never by its colour alone.
export const state = (s) => (signs[s] || "·") + " " + s;
export const final = (s) => ["done", "failed", "cancelled"].includes(s);
