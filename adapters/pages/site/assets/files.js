"use strict";

// Files that are dropped anywhere on a page with a form are as if they had been chosen in it.
const files = document.getElementById("files");
addEventListener("dragover", event => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); });
addEventListener("drop", event => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  files.files = event.dataTransfer.files;
  files.focus();
});
