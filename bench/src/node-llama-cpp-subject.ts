// node-llama-cpp as a subject: its driver in a child process, controlled over Node's IPC channel.
import { fork, type ChildProcess } from "node:child_process";
import path from "node:path";
import { BenchError } from "./bench-error.ts";
import { plainEnvironment, RunningProgram } from "./child-process.ts";
import type { DriverReply, DriverMessage, DriverOptions, DriverRequest } from "./node-llama-cpp-driver.ts";
import { nodeLlamaCppEntry } from "./peers.ts";
import { readProcessUsage } from "./machine.ts";
import { requestLimitMs, type StreamOptions } from "./stream-client.ts";
import { checkLength, type StreamRecord, type StreamRequest } from "./stream-record.ts";
import { contextLength, readyLimitMs, type Subject, type SubjectOptions } from "./subject.ts";

/** Resolves when the model is loaded. Throws BenchError, or the signal's reason. */
export async function startNodeLlamaCpp(options: SubjectOptions): Promise<Subject> {
  const { model, threads, slots, signal } = options;
  const driverOptions: DriverOptions = {
    entry: nodeLlamaCppEntry(),
    model,
    threads,
    sequences: slots,
    contextLength,
  };
  const startedAtMs = performance.now();
  const driver = new DriverProcess(driverOptions);
  try {
    await driver.ready(signal);
  } catch (error) {
    await driver[Symbol.asyncDispose]();
    throw error;
  }
  return {
    name: "node-llama-cpp",
    startedAtMs,
    stream: async (request, streamOptions = {}) =>
      checkLength(await driver.stream(request, { signal, ...streamOptions }), request),
    usage: () => readProcessUsage(driver.pid),
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
  };
}

interface Waiter {
  resolve: (reply: DriverReply | undefined) => void;
  reject: (error: Error) => void;
}

/** The child process and the pending promises for its messages: replies by their id, "ready" as id -1. */
class DriverProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #running: RunningProgram;
  readonly #waiters = new Map<number, Waiter>();
  #lastId = 0;

  constructor(options: DriverOptions) {
    const driver = path.join(import.meta.dirname, "node-llama-cpp-driver.ts");
    this.#child = fork(driver, [JSON.stringify(options)], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
      env: plainEnvironment(),
    });
    this.#running = new RunningProgram("node-llama-cpp", this.#child);
    this.#child.on("message", (message: DriverMessage) => this.#receive(message));
    this.#child.once("exit", () => this.#failAll("node-llama-cpp ended."));
  }

  get pid(): number {
    return this.#running.pid;
  }

  async ready(signal: AbortSignal): Promise<void> {
    await this.#wait(readyId, readyLimitMs, signal);
  }

  async stream(request: StreamRequest, { signal, leave, onPiece }: StreamOptions): Promise<StreamRecord> {
    if (leave !== undefined || onPiece !== undefined || request.sampling !== undefined) {
      throw new Error("node-llama-cpp takes no part in scenarios that leave, watch or sample.");
    }
    const id = (this.#lastId += 1);
    const message: DriverRequest = { id, messages: request.messages, maxTokens: request.maxTokens };
    const sentAtMs = performance.now();
    this.#child.send(message);
    const reply = await this.#wait(id, requestLimitMs, signal);
    if (reply === undefined) throw new Error("The driver sent no reply.");
    return {
      ...reply,
      sentAtMs,
      arrivalsMs: reply.arrivalsMs.map((ms) => sentAtMs + ms),
      endedAtMs: sentAtMs + reply.endedAtMs,
      hasLeft: false,
      computedTokens: reply.promptTokens - reply.reusedTokens,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running[Symbol.asyncDispose]();
  }

  async #wait(
    id: number,
    limitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<DriverReply | undefined> {
    signal?.throwIfAborted();
    const limit = AbortSignal.timeout(limitMs);
    const stop = signal === undefined ? limit : AbortSignal.any([signal, limit]);
    try {
      return await new Promise<DriverReply | undefined>((resolve, reject) => {
        this.#waiters.set(id, { resolve, reject });
        const late = new BenchError(`node-llama-cpp did not reply within ${limitMs / 1000} seconds.`);
        stop.addEventListener("abort", () => reject(late), { once: true });
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      this.#waiters.delete(id);
    }
  }

  #receive(message: DriverMessage): void {
    if (message.type === "error") {
      const error = new BenchError(`node-llama-cpp failed: ${message.message}`);
      this.#waiters.get(message.id ?? readyId)?.reject(error);
    } else if (message.type === "ready") this.#waiters.get(readyId)?.resolve(undefined);
    else this.#waiters.get(message.id)?.resolve(message.reply);
  }

  #failAll(sentence: string): void {
    for (const { reject } of this.#waiters.values()) reject(this.#running.failure(sentence));
  }
}

const readyId = -1;
