// Pages that look again by themselves: a case while machines work on it, and lists. Nothing moves under a hand: rows
// keep their places until "show" is pressed, an open form or dialog is left alone, a hidden or paused page asks nothing.

const SOON = 2000; // milliseconds, while machines work on a case
const EVERY = 10000; // milliseconds
const FAILURES = 3; // in a row, after which the page says that it may be old
const PAUSED = "console-paused";

const bar = document.getElementById("live");
const now = document.getElementById("now");
const lists = () => [...document.querySelectorAll("[data-rows]")];

const say = (text) => {
  const place = document.getElementById("spoken");
  if (place) place.textContent = text;
};
const isPaused = () => sessionStorage.getItem(PAUSED) === "yes";
const isInHand = (place) =>
  place.contains(document.activeElement) || place.querySelector("a:hover, button:hover, summary:hover, details[open]");
const isBusy = () => document.hidden || document.querySelector("dialog[open]") || isPaused();

// The header says that nobody pressed anything: such a request is no sign of a person at the desk.
const ask = async (address) => {
  const answer = await fetch(address, { credentials: "same-origin", redirect: "error", headers: { "X-Live": "yes" } });
  if (!answer.ok) throw new Error(String(answer.status));
  return new DOMParser().parseFromString(await answer.text(), "text/html");
};

const put = (place, nodes) => {
  place.replaceChildren(...nodes);
  place.dispatchEvent(new Event("console:shown", { bubbles: true }));
};

// A case -------------------------------------------------------------------------------------------------------------

const showCase = (page) => {
  for (const template of page.querySelectorAll("template[data-for]")) {
    const place = document.getElementById(template.dataset.for);
    if (place && !isInHand(place)) put(place, template.content.childNodes);
    template.remove();
  }
  const before = now.querySelector(".word")?.textContent;
  put(now, page.body.childNodes);
  const after = now.querySelector(".word")?.textContent;
  if (before !== after) say((after ?? "").trim());
};

const lookAtCase = async () => {
  if (!isInHand(now)) showCase(await ask(now.dataset.status));
};

// Lists --------------------------------------------------------------------------------------------------------------

const rowsOf = (list) => [...list.children];
const keyOf = (row) => row.querySelector("a[href]")?.getAttribute("href") ?? "";
const keysOf = (root) => [...root.querySelectorAll("[data-rows]")].flatMap((list) => rowsOf(list).map(keyOf));

const lookAtLists = async () => {
  const page = await ask(location.href);
  refreshNumbers(page);
  const before = keysOf(document), after = keysOf(page);
  const known = new Set(before);
  const added = after.filter((key) => !known.has(key)).length;
  if (added || before.join("\n") !== after.join("\n")) {
    tell(added);
    return;
  }
  // The same rows in the same order: what they say may change where they stand.
  const fresh = [...page.querySelectorAll("[data-rows]")].flatMap(rowsOf);
  lists().flatMap(rowsOf).forEach((row, place) => {
    if (row.textContent !== fresh[place].textContent && !row.matches(":hover") && !isInHand(row)) {
      put(row, fresh[place].childNodes);
    }
  });
};

// Numbers beside the navigation and in the tabs change where they stand; nothing is put in or taken out.
const refreshNumbers = (page) => {
  for (const name of [".side .count", ".tabs .count"]) {
    const old = document.querySelectorAll(name), fresh = page.querySelectorAll(name);
    if (old.length === fresh.length) old.forEach((place, number) => { place.textContent = fresh[number].textContent; });
  }
};

const tell = (added) => {
  const show = bar.querySelector("[data-show]");
  const text = added ? show.dataset.new.replace("%s", String(added)) : show.dataset.changed;
  if (show.textContent !== text || show.hidden) say(text);
  show.textContent = text;
  show.hidden = false;
};

// The clock ----------------------------------------------------------------------------------------------------------

let failures = 0;

const look = async () => {
  if (!isBusy()) {
    try {
      await (now ? lookAtCase() : lookAtLists());
      failures = 0;
    } catch {
      failures += 1; // the next look may succeed
    }
    bar.querySelector("[data-lost]").hidden = failures < FAILURES;
  }
  if (!now?.querySelector("[data-closed]")) setTimeout(look, pace());
};
const pace = () => (now?.querySelector("[data-moving]") ? SOON : EVERY);

const showPause = () => {
  const button = bar.querySelector("[data-pause]");
  button.setAttribute("aria-pressed", String(isPaused()));
  button.textContent = isPaused() ? button.dataset.go : button.dataset.stop;
};

if (bar) {
  bar.hidden = false;
  bar.querySelector("[data-pause]").addEventListener("click", () => {
    sessionStorage.setItem(PAUSED, isPaused() ? "no" : "yes");
    showPause();
  });
  bar.querySelector("[data-show]").addEventListener("click", () => location.reload());
  showPause();
  setTimeout(look, pace());
}
