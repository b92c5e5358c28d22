// Pieces that the other scripts share. The place on the page that the address names: #t=12.3&f=307, in seconds and as the
// number of a frame.
"use strict";
const place = (() => {
  const watchers = [];
  let from = null; // the section with the link that was followed
  const number = (text) => (text && Number.isFinite(Number(text)) ? Number(text) : null);

  const read = () => {
    const words = new URLSearchParams(location.hash.slice(1));
    return { time: number(words.get("t")), frame: number(words.get("f")) };
  };
  const isSomewhere = ({ time, frame }) => time !== null || frame !== null;

  // Puts a place into the address, for copying, without moving the page.
  const write = (time, frame) => {
    const words = [time === null ? "" : `t=${time.toFixed(3)}`, frame === null ? "" : `f=${frame}`];
    history.replaceState(null, "", `#${words.filter(Boolean).join("&")}`);
  };
  const tell = () => {
    const found = read();
    if (isSomewhere(found)) watchers.forEach((watch) => watch(found, from));
    from = null;
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (!link) return;
    from = link.closest("section");
    // The same link once more changes no address, and is followed all the same.
    if (link.getAttribute("href") === location.hash) tell();
  });
  addEventListener("hashchange", tell);
  addEventListener("load", tell);
  return { write, watch: (watch) => watchers.push(watch) };
})();

// Makes elements for the other scripts.
const elements = (() => {
  const make = (tag, properties = {}, ...children) => {
    const { attributes = {}, ...own } = properties;
    const element = Object.assign(document.createElement(tag), own);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.append(...children);
    return element;
  };
  const button = (text, title, act) => {
    const made = make("button", { type: "button", textContent: text, title });
    made.addEventListener("click", act);
    return made;
  };
  const clamped = (value, low, high) => Math.min(Math.max(value, low), high);
  return { make, button, clamped };
})();
