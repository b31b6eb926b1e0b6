// Elements from values. What is no element becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `h("a", {href: "#/"}, "Home")`. `on…` listens, false and null leave an attribute away. */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for what is drawn. */
export function s(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

/** Put something else in its place. */
export function put(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
}
