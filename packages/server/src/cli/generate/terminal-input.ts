// A terminal's keys for readline, in which a pasted text of several lines is one word, and Alt+Enter continues the line. Terminals enclose
// what is pasted in two sequences of keys, once they are asked to.
import { StringDecoder } from "node:string_decoder";
import { Transform, type TransformCallback } from "node:stream";
import type { CommandContext } from "../context.ts";

/** Ask the terminal to enclose what is pasted, and end that. */
export const pasteOn = "\u001B[?2004h";
export const pasteOff = "\u001B[?2004l";

const pasteStart = "\u001B[200~";
const pasteEnd = "\u001B[201~";
/** Alt+Enter becomes the end of a line that continues. */
const altEnter = "\u001B\r";

export class TerminalInput extends Transform {
  readonly isTTY = true;
  readonly #stdin: CommandContext["stdin"];
  readonly #decoder = new StringDecoder("utf8");
  /** The texts that were pasted, by the words that stand for them in the line. */
  readonly #pasted = new Map<string, string>();
  /** Keys that may be the beginning of a sequence, or what was pasted so far. */
  #held = "";

  constructor(stdin: CommandContext["stdin"]) {
    super();
    this.#stdin = stdin;
    stdin.pipe(this);
  }

  setRawMode(mode: boolean): this {
    this.#stdin.setRawMode?.(mode);
    return this;
  }

  /** Stops reading, so that the terminal does not keep the process alive. */
  release(): void {
    this.#stdin.unpipe(this);
    this.#stdin.pause();
  }

  /** The line with what was pasted into it. */
  whole(line: string): string {
    return [...this.#pasted].reduce((text, [word, pasted]) => text.replaceAll(word, () => pasted), line);
  }

  override _transform(chunk: Buffer | string, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#held += typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    for (;;) {
      const start = this.#held.indexOf(pasteStart);
      if (start < 0) break;
      const end = this.#held.indexOf(pasteEnd, start);
      this.#keys(this.#held.slice(0, start));
      this.#held = this.#held.slice(start);
      if (end < 0) return done();
      this.push(this.#word(this.#held.slice(pasteStart.length, end - start)));
      this.#held = this.#held.slice(end - start + pasteEnd.length);
    }
    // A sequence may arrive in two parts; a lone Escape is a key.
    const last = this.#held.lastIndexOf("\u001B");
    const isBegun =
      last >= 0 && last < this.#held.length - 1 && pasteStart.startsWith(this.#held.slice(last));
    const ready = isBegun ? last : this.#held.length;
    this.#keys(this.#held.slice(0, ready));
    this.#held = this.#held.slice(ready);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#keys(this.#held);
    done();
  }

  #keys(keys: string): void {
    if (keys !== "") this.push(keys.replaceAll(altEnter, "\\\r"));
  }

  /** One line is typed as it is; several are one word. */
  #word(text: string): string {
    const lines = text.replaceAll(/\r\n?/g, "\n").replace(/\n$/, "");
    if (!lines.includes("\n")) return lines;
    const word = `[pasted text ${this.#pasted.size + 1}: ${lines.split("\n").length} lines]`;
    this.#pasted.set(word, lines);
    return word;
  }
}
