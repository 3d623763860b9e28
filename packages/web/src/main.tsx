// Starts the page: theme and language first, so that the first render has both.
import { render } from "preact";

import { startRouter } from "./router.ts";
import { Shell } from "./app/shell.tsx";
import { startTheme } from "./design/theme.ts";
import { startConnection } from "./connection/connection.ts";
import { startJobToasts } from "./library/job-toasts.ts";
import { startLanguage } from "./strings/language.ts";

import "./design/tokens.css";
import "./design/base.css";

startTheme();
startRouter();
startLanguage();
startConnection();
startJobToasts();
const place = document.querySelector("#app");
if (place === null) throw new Error("index.html has no #app");
render(<Shell />, place);

// Service workers exist on localhost and over https only; the page works without one.
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  await navigator.serviceWorker.register("./service-worker.js");
}
