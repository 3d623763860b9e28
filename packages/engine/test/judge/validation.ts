// Asks ajv about texts, with a limit: its process is ended if it takes too long, and the next question starts another one.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Answer, Question } from "./validator-program.ts";

const program = path.join(import.meta.dirname, "validator-program.ts");
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

/** For all texts of a schema; hundreds of texts take milliseconds. */
const validationMsMax = 20_000;

export class Validation {
  #child: ChildProcess | undefined;

  async ask(question: Question): Promise<Answer> {
    const child = await this.#started();
    const limit = AbortSignal.timeout(validationMsMax);
    child.send(question);
    try {
      const [answer] = (await once(child, "message", { signal: limit })) as [Answer];
      return answer;
    } catch (error) {
      if (!limit.aborted) throw error;
      await this.#end();
      return { why: `the validator took more than ${validationMsMax / 1000} s` };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  /** A new process needs its time to compile; that is not the schema's. */
  async #started(): Promise<ChildProcess> {
    if (this.#child !== undefined) return this.#child;
    const child = fork(program, { execArgv: ["--import", tsx] });
    this.#child = child;
    child.send({ schema: {}, texts: [], drafts: undefined } satisfies Question);
    await once(child, "message");
    return child;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  }
}
