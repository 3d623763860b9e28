// The title of a conversation that nobody has named: the beginning of its first message.

/** Characters of a title; the list shows fewer. */
const titleLengthMax = 80;

/** The first line that says something, without markdown's signs, cut at a word. Empty when there is none. */
export function titleOf(text: string): string {
  const line = text
    .split("\n")
    .map((candidate) =>
      candidate
        .replaceAll(/[`*_#>|[\]]+/g, " ")
        .replaceAll(/\s+/g, " ")
        .trim(),
    )
    .find((candidate) => candidate !== "");
  if (line === undefined) return "";
  if (line.length <= titleLengthMax) return line;
  const cut = line.slice(0, titleLengthMax);
  const space = cut.lastIndexOf(" ");
  return `${cut.slice(0, space > titleLengthMax / 2 ? space : titleLengthMax)}…`;
}
