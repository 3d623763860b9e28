// Makes untrusted text of models and tools visible exactly as it is: characters that are invisible or change the direction of text are
// shown as their numbers. Pure.

/** Control and format characters and line separators, but not line feeds. */
const hidden = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu;

export function shownText(text: string): string {
  return text.replaceAll(hidden, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The arguments of a call, indented if they are JSON. */
export function shownArguments(written: string): string {
  try {
    return shownText(JSON.stringify(JSON.parse(written), null, 2));
  } catch {
    return shownText(written);
  }
}
