// Counts what a message of a server holds while it arrives, before anything is made of it: a message of many small values costs far
// more than its bytes.
import { messageBytesMax, messageValuesMax } from "./mcp-limits.ts";

/** Its message is the end of a sentence about the server. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";
}

const quote = 0x22;
const backslash = 0x5c;
/** `,`, `:`, `[` and `{`: a value follows each of them. */
const beforeValue = new Uint8Array(256);
for (const sign of ",:[{") beforeValue[sign.charCodeAt(0)] = 1;

/** The count of one message, which arrives in pieces. */
export class MessageMeter {
  #bytes = 0;
  #values = 0;
  #isInText = false;
  #isEscaped = false;

  /** Throws MessageTooLarge. */
  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > messageBytesMax)
      throw new MessageTooLarge(`sent a message of more than ${messageBytesMax} bytes`);
    for (const byte of chunk) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === quote) this.#isInText = !this.#isInText;
      else if (this.#isInText) this.#isEscaped = byte === backslash;
      else this.#values += beforeValue[byte] ?? 0;
    }
    if (this.#values > messageValuesMax)
      throw new MessageTooLarge(`sent a message of more than ${messageValuesMax} values`);
  }
}
