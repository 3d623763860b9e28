// What the user types in a chat: messages, from a terminal or a pipe, and answers to questions.
import readline from "node:readline";
import type { CommandContext } from "../context.ts";
import { MessageLines } from "./message-lines.ts";
import { pasteOff, pasteOn, TerminalInput } from "./terminal-input.ts";

const prompt = "> ";
/** Before the further lines of a message. */
const morePrompt = ". ";

export class ChatInput implements Disposable {
  readonly #readline: readline.Interface;
  readonly #stdout: CommandContext["stdout"];
  readonly #isTerminal: boolean;
  readonly #terminal: TerminalInput | undefined;
  #isOpen = true;

  constructor({ stdin, stdout }: Pick<CommandContext, "stdin" | "stdout">) {
    this.#stdout = stdout;
    this.#isTerminal = stdin.isTTY === true && stdout.isTTY === true;
    this.#terminal = this.#isTerminal ? new TerminalInput(stdin) : undefined;
    const input = this.#terminal ?? stdin;
    this.#readline = readline.createInterface({ input, output: stdout, terminal: this.#isTerminal, prompt });
    if (this.#terminal !== undefined) stdout.write(pasteOn);
    this.#readline.once("close", () => {
      this.#isOpen = false;
      this.#terminal?.release();
    });
  }

  /** While readline owns the terminal, Ctrl-C is a key, not a signal. */
  onInterrupt(listener: () => void): void {
    this.#readline.on("SIGINT", listener);
  }

  /** Whether somebody could answer a question. What comes from a pipe are messages. */
  get canAsk(): boolean {
    return this.#isTerminal && this.#isOpen;
  }

  /** The user's messages. One of several lines is complete when its last line is. */
  async *messages(): AsyncGenerator<string, void, undefined> {
    const lines = new MessageLines({ continues: this.#isTerminal });
    this.#prompt(prompt);
    for await (const line of this.#readline) {
      const joined = lines.add(line);
      if (joined.kind === "message") yield this.#whole(joined.text);
      this.#prompt(joined.kind === "message" ? prompt : morePrompt);
    }
    const rest = lines.rest();
    if (rest !== undefined && !this.#isTerminal) yield rest;
    if (this.#isTerminal) this.#stdout.write("\n");
  }

  #whole(text: string): string {
    return this.#terminal?.whole(text) ?? text;
  }

  /** The line that the user types after the question; undefined if the input ends first. Rejects with the signal's reason. */
  async ask(question: string, { signal }: { signal: AbortSignal }): Promise<string | undefined> {
    signal.throwIfAborted();
    if (!this.canAsk) return undefined;
    const answered = new AbortController();
    const { signal: ended } = answered;
    try {
      return await new Promise<string | undefined>((resolve, reject) => {
        const close = (): void => resolve(undefined);
        this.#readline.once("close", close);
        ended.addEventListener("abort", () => this.#readline.off("close", close));
        // oxlint-disable-next-line prefer-promise-reject-errors -- an abort's reason is what rejects
        signal.addEventListener("abort", () => reject(signal.reason), { signal: ended });
        // What was typed before the question was shown does not answer it.
        for (const name of ["e", "u"]) this.#readline.write(null, { ctrl: true, name });
        this.#readline.question(question, { signal }, resolve);
      });
    } finally {
      answered.abort();
    }
  }

  /** No more lines after those already read. */
  close(): void {
    this.#readline.close();
  }

  [Symbol.dispose](): void {
    this.close();
    if (this.#terminal !== undefined) this.#stdout.write(pasteOff);
  }

  #prompt(shown: string): void {
    if (!this.#isTerminal || !this.#isOpen) return;
    this.#readline.setPrompt(shown);
    // `true` keeps the cursor after what was typed during the reply.
    this.#readline.prompt(true);
  }
}
