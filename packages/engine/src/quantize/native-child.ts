// The program of the process that native-process.ts starts: does one task and ends.
import { rmSync } from "node:fs";
import { EngineError } from "../errors.ts";
import { computeImatrixNative, planQuantizationNative, quantizeNative, toEngineError } from "../native.ts";
import type { TaskName, TaskOrder, TaskReport } from "./native-tasks.ts";

type Tell = (news: unknown) => void;

async function work(order: TaskOrder, tell: Tell): Promise<unknown> {
  switch (order.name) {
    case "plan":
      return await planQuantizationNative(order.options);
    case "quantize":
      return await quantizeNative(order.options, tell);
    case "imatrix":
      return await computeImatrixNative(order.options, (done, total) => tell({ done, total }));
  }
}

function send(
  report: TaskReport<TaskName> | { kind: "news"; news: unknown } | { kind: "done"; result: unknown },
) {
  return new Promise<void>((resolve) => process.send?.(report, undefined, undefined, () => resolve()));
}

async function run(order: TaskOrder): Promise<void> {
  // Without the parent nobody wants the file. Only this ends a native call that is under way.
  const giveUp = (): void => {
    if (order.name !== "plan") rmSync(order.options.output, { force: true });
    process.kill(process.pid, "SIGKILL");
  };
  process.once("disconnect", giveUp);
  try {
    const result = await work(order, (news) => void send({ kind: "news", news }));
    await send({ kind: "done", result });
  } catch (error) {
    const known = toEngineError(error);
    const { code, message, details } = EngineError.is(known)
      ? known
      : new EngineError("engine_failed", String(error));
    await send({ kind: "failed", code, message, details });
  }
  process.off("disconnect", giveUp);
  process.disconnect();
}

// Ctrl-C goes to every process of a terminal; the parent decides what it means.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.once("message", (order: TaskOrder) => void run(order));
