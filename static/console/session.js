// Two minutes before a session ends by itself its person is asked. What was typed stays where it is: nothing is loaded.

const WARN = 2 * 60 * 1000; // milliseconds before the end
const ENDS = "console-session-ends"; // a moment; every tab of this browser has the same session
const dialog = document.getElementById("session-end");
const form = dialog.querySelector("form");
let asked = 0; // the end that was asked about: who closed the dialog is not asked twice
let timer = 0;

const end = () => Number(localStorage.getItem(ENDS));
const keep = (minutes) => localStorage.setItem(ENDS, String(Date.now() + minutes * 60 * 1000));

const show = (isOver) => {
  for (const one of dialog.querySelectorAll("[data-soon]")) one.hidden = isOver;
  for (const one of dialog.querySelectorAll("[data-over]")) one.hidden = !isOver;
  if (!dialog.open) dialog.showModal();
};

// The moment counts, not the ticks: a sleeping machine comes back late.
const look = () => {
  clearTimeout(timer);
  const left = end() - Date.now();
  if (left <= 0) {
    show(true);
    return;
  }
  if (left > WARN) {
    dialog.close();
  } else if (asked !== end()) {
    asked = end();
    show(false);
  }
  timer = setTimeout(look, left > WARN ? left - WARN : left);
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const said = new FormData(form);
    const answer = await fetch(form.action, { method: "POST", body: said, credentials: "same-origin", redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    keep((await answer.json()).minutes);
    look();
  } catch {
    show(true); // it was too late
  }
});

// Another tab went on working: this one has the same session.
window.addEventListener("storage", (event) => { if (event.key === ENDS) look(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });

keep(Number(dialog.dataset.minutes));
look();
