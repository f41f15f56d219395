// What every page can do with a script.
import * as handing from "./handing";
import * as times from "./times";
import * as wrapping from "./wrapping";

handing.begin();
times.begin();
wrapping.begin();

// Other colours mean another visit of the page: the key behind its address stays.
document.querySelector("form.colours")?.addEventListener("submit", event => {
  const form = event.target as HTMLFormElement;
  form.action = form.getAttribute("action")!.replace(/#.*/, "") + location.hash;
});
