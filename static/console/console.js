// What makes the console quicker. Every form and link works without it.

const say = (text) => {
  const place = document.getElementById("spoken");
  if (place) place.textContent = text;
};

const enhance = (root) => {
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false;
  for (const button of root.querySelectorAll("button[data-countdown]")) countDown(button);
};

// The moment counts, not the ticks: a sleeping tab must not show time that is gone.
const countDown = (button) => {
  const label = button.querySelector("span");
  const end = Date.now() + Number(button.dataset.countdown) * 1000;
  const tick = () => {
    const left = Math.ceil((end - Date.now()) / 1000);
    label.textContent = left > 0 ? button.dataset.counting.replace("%s", String(left)) : button.dataset.after;
    if (left > 0 && button.isConnected) setTimeout(tick, 500);
  };
  tick();
};

document.addEventListener("click", async (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const copy = target?.closest("button[data-copy]");
  if (copy) {
    await navigator.clipboard?.writeText(copy.dataset.copy);
    say(copy.dataset.said);
    return;
  }
  const opener = target?.closest("a[data-dialog]");
  const dialog = opener && document.getElementById(opener.dataset.dialog);
  if (dialog && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    dialog.showModal();
    return;
  }
  if (target?.closest("[data-close]")) target.closest("dialog")?.close();
});

// A second press must not send a second form; the server would refuse it, but the person should not see a refusal.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) event.preventDefault();
  else if (form.method === "post" && !("again" in form.dataset)) form.dataset.sent = "yes";
});
window.addEventListener("pageshow", (event) => {
  if (event.persisted) for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// The live part of a case: looked at again while machines work, never under somebody's hands.
const EVERY = 2000; // milliseconds
const now = document.getElementById("now");
const isBusy = () =>
  document.hidden || document.querySelector("dialog[open]") || now.contains(document.activeElement) ||
  document.querySelector("#done-live details[open]");

const look = async () => {
  if (!now.querySelector("[data-moving]")) return;
  if (!isBusy()) {
    try {
      const answer = await fetch(now.dataset.status, { credentials: "same-origin", redirect: "error" });
      if (answer.ok) show(await answer.text());
    } catch {
      // The next look may succeed; the page still says when it was made.
    }
  }
  setTimeout(look, EVERY);
};

const show = (html) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const template of page.querySelectorAll("template[data-for]")) {
    const place = document.getElementById(template.dataset.for);
    if (place) {
      place.replaceChildren(...template.content.childNodes);
      enhance(place);
    }
    template.remove();
  }
  const before = now.querySelector(".word")?.textContent;
  now.replaceChildren(...page.body.childNodes);
  enhance(now);
  const after = now.querySelector(".word")?.textContent;
  if (before !== after) say((after ?? "").trim());
};

enhance(document);
if (now) setTimeout(look, EVERY);
