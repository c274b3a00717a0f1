// h describes an element: its tag, attributes and children. Attributes that begin with "on" are listeners, style is an object, draw is called
// with the element whenever it is shown anew, and what is in it is then left alone. key tells elements of one kind apart.
export function h(tag, attributes, ...children) {
  return { tag, attributes: attributes || {}, children: children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false && c !== "") };
}

// show makes the children of an element those that are described, and changes no more than it must, so that focus, selection and scrolling stay.
export function show(parent, children) {
  children = children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false);
  let at = parent.firstChild;
  for (const child of children) {
    if (at && fits(at, child)) {
      update(at, child);
      at = at.nextSibling;
      continue;
    }
    const later = child.attributes?.key && find(at, child);
    if (later) {
      while (at !== later) { const next = at.nextSibling; at.remove(); at = next; }
      update(at, child);
      at = at.nextSibling;
      continue;
    }
    const made = parent.insertBefore(create(child), at);
    update(made, child);
  }
  while (at) { const next = at.nextSibling; at.remove(); at = next; }
}

function fits(node, child) {
  if (typeof child !== "object") return node.nodeType === Node.TEXT_NODE;
  return node.nodeType === Node.ELEMENT_NODE && node.localName === child.tag && (node.berthKey || "") === (child.attributes.key || "");
}

function find(node, child) {
  for (; node; node = node.nextSibling) if (fits(node, child)) return node;
  return null;
}

function create(child) {
  if (typeof child !== "object") return document.createTextNode("");
  const node = document.createElement(child.tag);
  node.berthKey = child.attributes.key || "";
  return node;
}

function update(node, child) {
  if (typeof child !== "object") {
    if (node.data !== String(child)) node.data = String(child);
    return;
  }
  const before = node.berthAttributes || {};
  for (const name of Object.keys(before)) if (!(name in child.attributes)) set(node, name, null);
  for (const [name, value] of Object.entries(child.attributes)) if (name !== "draw" && name !== "key") set(node, name, value);
  node.berthAttributes = child.attributes;
  if (child.attributes.draw) child.attributes.draw(node);
  else show(node, child.children);
}

function set(node, name, value) {
  if (name.startsWith("on")) node[name] = value;
  else if (name === "style") for (const [k, v] of Object.entries(value || {})) node.style.setProperty(k, v);
  else if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value === true ? "" : value);
}
