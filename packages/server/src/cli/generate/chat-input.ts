// What the user types in a chat: messages, from a terminal or a pipe, and answers to questions.
import readline from "node:readline";
import type { CommandContext } from "../context.ts";

export class ChatInput implements Disposable {
  readonly #readline: readline.Interface;
  readonly #stdout: CommandContext["stdout"];
  readonly #isTerminal: boolean;
  #isOpen = true;

  constructor({ stdin, stdout }: Pick<CommandContext, "stdin" | "stdout">) {
    this.#stdout = stdout;
    this.#isTerminal = stdin.isTTY === true && stdout.isTTY === true;
    const options = { input: stdin, output: stdout, terminal: this.#isTerminal, prompt: "> " };
    this.#readline = readline.createInterface(options);
    this.#readline.once("close", () => (this.#isOpen = false));
  }

  /** While readline owns the terminal, Ctrl-C is a key, not a signal. */
  onInterrupt(listener: () => void): void {
    this.#readline.on("SIGINT", listener);
  }

  /** Whether somebody could answer a question. What comes from a pipe are messages. */
  get canAsk(): boolean {
    return this.#isTerminal && this.#isOpen;
  }

  async *lines(): AsyncGenerator<string, void, undefined> {
    this.#prompt();
    for await (const line of this.#readline) {
      yield line;
      this.#prompt();
    }
    if (this.#isTerminal) this.#stdout.write("\n");
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
  }

  #prompt(): void {
    // `true` keeps the cursor after what was typed during the reply.
    if (this.#isTerminal && this.#isOpen) this.#readline.prompt(true);
  }
}
