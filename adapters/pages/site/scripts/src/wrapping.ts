// Long lines of code: the links "Wrap lines" and "Unwrap lines" act on this page, and the choice is remembered.

const kept = "wrap";

function wrap(on: boolean): void {
  for (const code of document.querySelectorAll(".pasty .code")) {
    code.classList.toggle("wrapped", on);
    code.classList.toggle("unwrapped", !on);
  }
}

export function begin(): void {
  if (!document.querySelector(".pasty")) return;
  try {
    const chosen = localStorage.getItem(kept);
    if (chosen && !new URLSearchParams(location.search).has("wrap")) wrap(chosen === "yes");
  } catch { /* this browser stores nothing */ }
  document.addEventListener("click", event => {
    const link = (event.target as Element).closest(".wrap-on, .wrap-off");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const on = link.classList.contains("wrap-on");
    wrap(on);
    link.parentElement?.querySelector<HTMLElement>(on ? ".wrap-off" : ".wrap-on")?.focus(); // the other is gone
    try {
      localStorage.setItem(kept, on ? "yes" : "no");
    } catch { /* likewise */ }
  });
}
