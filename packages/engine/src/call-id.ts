// Ids of tool calls that every chat template accepts: Mistral's templates require exactly nine letters and digits.
import { randomBytes } from "node:crypto";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const length = 9;

/** Random: among a million ids, the chance that two are equal is one in thirty thousand. */
export function newCallId(): string {
  let id = "";
  while (id.length < length) {
    // Drop bytes that would make some letters likelier than others.
    for (const byte of randomBytes(length)) {
      if (id.length < length && byte < 256 - (256 % letters.length)) id += letters[byte % letters.length];
    }
  }
  return id;
}
