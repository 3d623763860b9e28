// Names of tool calls that every chat template takes: those of Mistral refuse a conversation whose calls have any other
// than nine letters and digits. Used by Generation.
import { randomBytes } from "node:crypto";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const length = 9;

/** Random: two of a million calls are the same with a chance of one in thirty thousand. */
export function newCallId(): string {
  let id = "";
  while (id.length < length) {
    // Bytes that would make some letters likelier than others are drawn again.
    for (const byte of randomBytes(length)) {
      if (id.length < length && byte < 256 - (256 % letters.length)) id += letters[byte % letters.length];
    }
  }
  return id;
}
