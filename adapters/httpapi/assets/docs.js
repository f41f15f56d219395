"use strict";

const page = document.getElementById("docs");

SwaggerUIBundle({
  domNode: page,
  url: page.dataset.document,
  layout: "BaseLayout",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null, // or else the document is sent to somebody
});
