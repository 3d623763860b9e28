// The text of a custom tool's call, read from the pieces of its arguments: `{"input": "…"}`.
import { customArgument } from "./tools.ts";

/** What comes before the text. */
const opening = new RegExp(String.raw`^\s*\{\s*"${customArgument}"\s*:\s*"`);
/** Characters as they are, or one escape; half of an escape waits for its rest. */
const encoded = /[^"\\]+|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
/** Characters that JSON escapes and that some models write as they are. */
const bareControls = /[\0-\x1f]/g; // oxlint-disable-line no-control-regex -- they are what it is about

export class CustomInput {
  /** Pieces of the arguments that are not decoded yet. */
  #rest = "";
  #isOpen = false;

  /** The text that this piece adds. */
  add(fragment: string): string {
    this.#rest += fragment;
    if (!this.#isOpen) {
      const [start] = opening.exec(this.#rest) ?? [];
      if (start === undefined) return "";
      this.#isOpen = true;
      this.#rest = this.#rest.slice(start.length);
    }
    let end = 0;
    for (encoded.lastIndex = 0; encoded.test(this.#rest); end = encoded.lastIndex);
    const text = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end);
    return decode(text);
  }

  /** The text that is still missing at the end: arguments in another form are the text as they are. */
  end(): string {
    return this.#isOpen ? "" : this.#rest;
  }
}

function decode(text: string): string {
  const escaped = text.replaceAll(bareControls, (each) => JSON.stringify(each).slice(1, -1));
  const value: unknown = JSON.parse(`"${escaped}"`);
  return String(value);
}
