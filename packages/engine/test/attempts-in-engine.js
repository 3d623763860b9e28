// Preloaded into an engine's process: once the process has restricted itself, tries what it may no longer do, on the main thread and
// on those that the process had before, and reports what happened as a line of its log.
import {
  chmodSync,
  mkdirSync,
  openSync,
  promises,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";

const model = process.env.ATTEMPTS_MODEL;

function thrownCode(attempt) {
  try {
    attempt();
    return "allowed";
  } catch ({ code }) {
    return code;
  }
}

async function onThreads(attempt) {
  const attempts = await Promise.allSettled(Array.from({ length: 16 }, attempt));
  return [...new Set(attempts.map(({ reason }) => reason?.code ?? "allowed"))];
}

async function report() {
  const found = {
    read: thrownCode(() => readFileSync(model)),
    home: thrownCode(() => readFileSync("/etc/passwd")),
    server: thrownCode(() => openSync(`/proc/${process.ppid}/mem`)),
    write: thrownCode(() => writeFileSync(model, "")),
    create: thrownCode(() => writeFileSync(`${model}.new`, "")),
    remove: thrownCode(() => rmSync(model)),
    rename: thrownCode(() => renameSync(model, `${model}.moved`)),
    folder: thrownCode(() => mkdirSync(`${model}.folder`)),
    mode: thrownCode(() => chmodSync(model, 0o777)),
    readOnThreads: await onThreads(() => promises.readFile(model)),
    writeOnThreads: await onThreads(() => promises.writeFile(model, "")),
  };
  process.send([{ kind: "log", level: 2, text: `attempts ${JSON.stringify(found)}` }]);
}

const timer = setInterval(() => {
  if (!/^Seccomp:\s2$/m.test(readFileSync("/proc/self/status", "utf8"))) return;
  clearInterval(timer);
  void report();
}, 20);
timer.unref();
