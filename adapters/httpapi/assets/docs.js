"use strict";

const page = document.getElementById("docs");

// The summary of an operation is a button: a link within it could not be reached by all readers. Opening it sets the address.
const plainSummaries = ({React}) => ({
  wrapComponents: {DeepLink: () => ({text}) => React.createElement("span", null, text)},
});

// Lists that Swagger UI does not label, and examples that scroll, which keys must reach.
const labels = {"#servers": "Server", ".examples-select-element": "Example"};
new MutationObserver(() => {
  for (const [list, label] of Object.entries(labels)) {
    for (const element of page.querySelectorAll(list + ":not([aria-label])")) element.setAttribute("aria-label", label);
  }
  for (const example of page.querySelectorAll(".microlight:not([tabindex])")) example.tabIndex = 0;
}).observe(page, {childList: true, subtree: true});

SwaggerUIBundle({
  domNode: page,
  url: page.dataset.document,
  layout: "BaseLayout",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  plugins: [plainSummaries],
  validatorUrl: null, // or else the document is sent to somebody
});
