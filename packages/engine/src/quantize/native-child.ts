// The program of the child process of native-process.ts: runs one task and exits.
import { rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { EngineError } from "../base/errors.ts";
import { callAddon, toEngineError } from "../native/addon.ts";
import type { TaskCommand, TaskName, TaskReport } from "./native-process.ts";

async function work(command: TaskCommand, onProgress: (progress: unknown) => void): Promise<unknown> {
  switch (command.name) {
    case "plan":
      return await callAddon((addon) => addon.planQuantization(command.options));
    case "quantize":
      return await callAddon((addon) => addon.quantizeModel(command.options, onProgress));
    case "imatrix":
      return await callAddon((addon) =>
        addon.computeImatrix(command.options, (done, total) => onProgress({ done, total })),
      );
  }
}

function send(
  report: TaskReport<TaskName> | { kind: "progress"; progress: unknown } | { kind: "done"; result: unknown },
) {
  return new Promise<void>((resolve) => process.send?.(report, undefined, undefined, () => resolve()));
}

async function run(command: TaskCommand): Promise<void> {
  // If the parent is gone, nobody needs the file. Killing the process is the only way to end a running native call.
  const abort = (): void => {
    if (command.name !== "plan") rmSync(command.options.output, { force: true });
    process.kill(process.pid, "SIGKILL");
  };
  process.once("disconnect", abort);
  try {
    const result = await work(command, (progress) => void send({ kind: "progress", progress }));
    await setImmediate(); // the addon's last report may be delivered right after its result
    await send({ kind: "done", result });
  } catch (error) {
    const known = toEngineError(error);
    const { code, message, details } = EngineError.is(known)
      ? known
      : new EngineError("engine_failed", String(error));
    await send({ kind: "failed", code, message, details });
  }
  process.off("disconnect", abort);
  process.disconnect();
}

// Ctrl-C signals every process of a terminal; the parent handles it.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.once("message", (command: TaskCommand) => void run(command));
