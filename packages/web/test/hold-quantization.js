// Preloaded into `ingle` (NODE_OPTIONS): the process that quantizes tells of its first tensors, and of nothing more until the file
// HOLD_FILE is there. A tiny model would be done before a page could show that it is under way.
import { access } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Each is told of when it is begun, so that some bytes are done by the second. */
const tensorsTold = 3;
const lookEveryMs = 20;
const send = process.send?.bind(process);
const isQuantizing = (process.argv[1] ?? "").endsWith("native-child.js");

if (send !== undefined && isQuantizing) {
  let told = 0;
  let held;
  process.send = (message, ...rest) => {
    if (held !== undefined) {
      void held.then(() => send(message, ...rest));
      return true;
    }
    if (message.kind === "news") told += 1;
    if (told === tensorsTold) held = isThere();
    return send(message, ...rest);
  };
}

async function isThere() {
  for (;;) {
    try {
      await access(process.env["HOLD_FILE"] ?? "");
      return;
    } catch {
      await sleep(lookEveryMs);
    }
  }
}
