// What makes the console quicker. Every form and link works without it.

const say = (text) => {
  const place = document.getElementById("spoken");
  if (place) place.textContent = text;
};

const enhance = (root) => {
  for (const button of root.querySelectorAll("button[data-copy], button[data-print]")) button.hidden = false;
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
  if (target?.closest("[data-print]")) {
    window.print();
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

// On paper nothing can be unfolded; afterwards the page is as it was.
window.addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not([open])")) {
    one.dataset.folded = "yes";
    one.open = true;
  }
});
window.addEventListener("afterprint", () => {
  for (const one of document.querySelectorAll("details[data-folded]")) {
    delete one.dataset.folded;
    one.open = false;
  }
});

// What live.js put into the page gets its copy buttons and countdowns, too.
document.addEventListener("console:shown", (event) => enhance(event.target));

enhance(document);
