// Ingle and llama-server as subjects: processes that listen on a port. Both get the same threads, number of concurrent
// requests and total context; everything else is their own default.
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@ingle/fixtures";
import { plainEnvironment, startProgram, type RunningProgram } from "./child-process.ts";
import { llamaProgram } from "./peers.ts";
import { readProcessUsage } from "./machine.ts";
import { streamChat } from "./stream-client.ts";
import { checkLength } from "./stream-record.ts";
import { contextLength, readyLimitMs, type Subject, type SubjectOptions } from "./subject.ts";
import { packageFolder } from "./workspace.ts";

/** Short enough not to affect the scenario `cold`. */
const readyPollMs = 5;
/** Limit of one probe: a loading server responds at once. */
const probeLimitMs = 2_000;

type HttpSubjectName = "ingle" | "llama-server";

/** The command that starts a subject, without the parts that change from run to run. */
export function httpCommand(
  name: HttpSubjectName,
  {
    model,
    mmproj,
    threads,
    slots,
    engine,
    llamaServer = llamaProgram("llama-server"),
  }: Omit<SubjectOptions, "signal">,
): string[] {
  const own: Record<HttpSubjectName, string[]> = {
    ingle: [
      process.execPath,
      path.join(packageFolder("@ingle/server"), "bin", "ingle.js"),
      "serve",
      `--parallel=${slots}`,
      `--ctx=${contextLength}`,
      ...(engine === undefined ? [] : [`--engine=${engine}`]),
    ],
    // With a unified cache every slot may use what the others leave, as in Ingle; the prompt cache in host memory is on
    // by default.
    "llama-server": [
      llamaServer,
      "--parallel",
      String(slots),
      "--ctx-size",
      // The total, which Ingle computes from the two.
      String(slots * contextLength),
      "--kv-unified",
      "--no-webui",
    ],
  };
  const projector = mmproj === undefined ? [] : ["--mmproj", mmproj];
  return [...own[name], "--model", model, ...projector, "--threads", String(threads)];
}

/** A server that listens on a port of this machine. */
export interface HttpSubject extends Subject {
  readonly url: string;
  readonly pid: number;
}

/** Resolves when the server is ready; `flags` are added to its command. Throws BenchError if it exits or takes too long, or the signal's reason. */
export async function startHttpSubject(
  name: HttpSubjectName,
  options: SubjectOptions,
  flags: readonly string[] = [],
): Promise<HttpSubject> {
  const { model, signal } = options;
  const [program = "", ...args] = httpCommand(name, options);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startedAtMs = performance.now();
  const address = ["--host", "127.0.0.1", "--port", String(port)];
  const running = startProgram(program, [...args, ...address, ...flags], { env: plainEnvironment() });
  try {
    await waitUntilReady(name, url, running, signal);
  } catch (error) {
    await running[Symbol.asyncDispose]();
    throw error;
  }
  return {
    name,
    url,
    pid: running.pid,
    startedAtMs,
    stream: async (request, streamOptions) =>
      checkLength(await streamChat(url, model, request, { signal, ...streamOptions }), request),
    usage: () => readProcessUsage(running.pid),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

async function waitUntilReady(
  name: HttpSubjectName,
  url: string,
  running: RunningProgram,
  signal: AbortSignal,
): Promise<void> {
  const giveUpAt = performance.now() + readyLimitMs;
  while (!(await isReady(url, signal))) {
    if (running.hasEnded) throw running.failure(`${name} exited before it was ready.`);
    if (performance.now() > giveUpAt)
      throw running.failure(`${name} was not ready after ${readyLimitMs / 1000} seconds.`);
    await sleep(readyPollMs, undefined, { signal });
  }
}

async function isReady(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, {
      signal: AbortSignal.timeout(probeLimitMs),
      headers: { connection: "close" },
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    signal.throwIfAborted();
    return false; // not listening yet
  }
}
