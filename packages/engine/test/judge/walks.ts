// Random texts from a grammar, drawn by Ingle's own grammar code in a separate program (packages/engine-native/test/grammar_walks.cpp).
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Readable, Writable } from "node:stream";

const native = path.dirname(createRequire(import.meta.url).resolve("@ingle/engine-native/package.json"));
const name = process.platform === "win32" ? "ingle_grammar_walks.exe" : "ingle_grammar_walks";

/** The first byte of what the program writes if the grammar has no text, or if the engine does not admit what the rules derive. */
const noText = 0xff;
const notAdmitted = 0xfe;

/** A grammar is opened first; requests are answered in their order. */
export class Walks {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting: ((text: Buffer | undefined) => void)[] = [];
  #received: Buffer[] = [];
  #size = 0;

  constructor() {
    const program = path.join(native, "build", "tests", name);
    if (!existsSync(program)) throw new Error(`${program} was not built. Run \`pnpm build\` first.`);
    this.#child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdout.on("data", (bytes: Buffer) => this.#receive(bytes));
    this.#child.on("close", () => {
      for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    });
  }

  /** Uses this grammar from now on. Returns what is wrong with it. */
  async open(grammar: string): Promise<string | undefined> {
    const text = Buffer.from(grammar);
    const problem = await this.#ask(Buffer.from("G"), encodeInt32(text.length), text);
    return problem.length === 0 ? undefined : problem.toString();
  }

  /** Texts that the grammar admits; none if there are none. And those of its rules' texts that the engine does not admit. */
  async draw(count: number, seed: number): Promise<{ texts: string[]; lost: string[] }> {
    const replies = Array.from({ length: count }, () => this.#reply());
    this.#child.stdin.write(Buffer.concat([Buffer.from("W"), encodeInt32(count), encodeInt32(seed)]));
    const texts = await Promise.all(replies);
    const lost = texts.filter((text) => text[0] === notAdmitted).map((text) => text.toString("utf8", 1));
    const drawn = texts.filter((text) => text[0] !== noText && text[0] !== notAdmitted).map(String);
    return { texts: drawn, lost };
  }

  /** Whether the grammar admits this text. */
  async admits(text: string): Promise<boolean> {
    const bytes = Buffer.from(text);
    return (await this.#ask(Buffer.from("I"), encodeInt32(bytes.length), bytes)).toString() === "1";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, "close");
    this.#child.stdin.end();
    await closed;
  }

  async #ask(...parts: Buffer[]): Promise<Buffer> {
    const reply = this.#reply();
    this.#child.stdin.write(Buffer.concat(parts));
    return await reply;
  }

  async #reply(): Promise<Buffer> {
    const text = await new Promise<Buffer | undefined>((resolve) => void this.#waiting.push(resolve));
    if (text === undefined) throw new Error(`${name} ended with ${String(this.#child.exitCode)}.`);
    return text;
  }

  #receive(bytes: Buffer): void {
    this.#received.push(bytes);
    this.#size += bytes.length;
    if (this.#size < 4) return;
    let rest = this.#received.length === 1 ? bytes : Buffer.concat(this.#received);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32LE()) {
      const end = 4 + rest.readInt32LE();
      this.#waiting.shift()?.(rest.subarray(4, end));
      rest = rest.subarray(end);
    }
    this.#received = [rest];
    this.#size = rest.length;
  }
}

function encodeInt32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
