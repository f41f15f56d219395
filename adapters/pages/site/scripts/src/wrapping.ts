// Long lines of code: the links "Wrap lines" and "Unwrap lines" act on this page, and the browser remembers the choice.

const kept = "wrap";

function wrap(on: boolean): void {
  for (const code of document.querySelectorAll(".pasty .code")) {
    code.classList.toggle("wrapped", on);
    code.classList.toggle("unwrapped", !on);
  }
}

/** chosen returns the class of the last choice, or undefined. */
export function chosen(): string | undefined {
  try {
    return {yes: "wrapped", no: "unwrapped"}[localStorage.getItem(kept) ?? ""];
  } catch {
    return undefined; // this browser stores nothing
  }
}

export function begin(): void {
  const wraps = chosen();
  if (wraps && !new URLSearchParams(location.search).has("wrap")) wrap(wraps === "wrapped");
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
