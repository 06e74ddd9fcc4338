// Single keys for who wants them; the preferences switch them off (WCAG 2.1.4). None of them changes anything.

const help = document.getElementById("shortcuts");
const GO = { a: "approvals", c: "cases" }; // after g
let afterG = 0;

const rows = () => [...document.querySelectorAll("[data-rows] > *")].filter((row) => row.querySelector("a[href]"));
const move = (step) => {
  const found = rows();
  const here = found.findIndex((row) => row.contains(document.activeElement));
  const next = found[Math.min(Math.max(here + step, 0), found.length - 1)];
  next?.querySelector("a[href]").focus();
};

const KEYS = {
  "?": () => help.showModal(),
  "/": () => document.getElementById("search")?.focus(),
  j: () => move(1),
  k: () => move(-1),
  c: () => document.querySelector("main button[data-copy]")?.click(),
  g: () => { afterG = Date.now(); },
};

// By the letter's place where the keyboard is Cyrillic: the same finger for the same key.
const PLACES = { KeyJ: "j", KeyK: "k", KeyC: "c", KeyG: "g", KeyA: "a" };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  const key = PLACES[event.code] ?? event.key;
  if (GO[key] && Date.now() - afterG < 1500) {
    event.preventDefault();
    afterG = 0;
    location.assign(help.dataset[GO[key]]);
    return;
  }
  if (!KEYS[key]) return;
  event.preventDefault();
  KEYS[key]();
});
