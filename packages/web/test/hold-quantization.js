// Preloaded into `ingle` through NODE_OPTIONS. The quantizing process reports its first tensors, and nothing more until HOLD_FILE
// exists. Otherwise a tiny model would be done before the page could show its progress.
import { access } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** A tensor is reported when it starts, so some bytes are done by the second report. */
const tensorsReported = 3;
const pollMs = 20;
const send = process.send?.bind(process);
const isQuantizing = process.argv.some((argument) => argument.endsWith("native-child.js"));

if (send !== undefined && isQuantizing) {
  let reported = 0;
  let held;
  process.send = (message, ...rest) => {
    if (held !== undefined) {
      void held.then(() => send(message, ...rest));
      return true;
    }
    if (message.kind === "progress") reported += 1;
    if (reported === tensorsReported) held = fileExists();
    return send(message, ...rest);
  };
}

async function fileExists() {
  for (;;) {
    try {
      await access(process.env["HOLD_FILE"] ?? "");
      return;
    } catch {
      await sleep(pollMs);
    }
  }
}
