// applyTo makes the changes of a stream on a document and returns it. Each is [path, value]: the value is put there; or [path]: what is
// there is taken out, of a list with all that follows.
export function applyTo(document, changes) {
  for (const change of changes) {
    const [path, to] = change;
    if (path.length === 0) {
      document = to;
      continue;
    }
    let at = document;
    for (const key of path.slice(0, -1)) at = at[key];
    const last = path[path.length - 1];
    if (change.length === 2) at[last] = to;
    else if (Array.isArray(at)) at.length = last;
    else delete at[last];
  }
  return document;
}
