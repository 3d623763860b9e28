// Joins the lines that a user types into messages: a `\\` at the end of a line continues it, and `"""` encloses several lines.

const fence = '"""';

/** A message is complete, or more of its lines follow. */
type Joined = { kind: "message"; text: string } | { kind: "more" };

export class MessageLines {
  /** Whether a line that ends in `\\` continues: what comes from a pipe is taken as it is. */
  readonly #continues: boolean;
  #lines: string[] = [];
  #isFenced = false;

  constructor({ continues }: { continues: boolean }) {
    this.#continues = continues;
  }

  add(line: string): Joined {
    if (this.#isFenced) return this.#addFenced(line);
    if (this.#lines.length === 0 && line.trimStart().startsWith(fence)) {
      this.#isFenced = true;
      return this.#addFenced(line.trimStart().slice(fence.length));
    }
    if (this.#continues && line.endsWith("\\")) {
      this.#lines.push(line.slice(0, -1));
      return { kind: "more" };
    }
    this.#lines.push(line);
    return this.#end();
  }

  /** What was begun and never ended, for example because the input ended; undefined if nothing was. */
  rest(): string | undefined {
    if (this.#lines.length === 0) return undefined;
    return this.#end().text;
  }

  #addFenced(line: string): Joined {
    const end = line.indexOf(fence);
    this.#lines.push(end < 0 ? line : line.slice(0, end));
    return end < 0 ? { kind: "more" } : this.#end();
  }

  #end(): { kind: "message"; text: string } {
    const text = this.#lines.join("\n");
    this.#lines = [];
    this.#isFenced = false;
    return { kind: "message", text };
  }
}
