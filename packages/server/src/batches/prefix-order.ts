// The order in which the requests of a batch are sent. The prefix cache computes a shared prefix once if its requests are close to each
// other, but a file may have them anywhere: the lines of one window are sorted by their texts, so those with the longest common prefix are
// neighbours. Windows follow each other in the order of the file, so no line waits for more than one window, and only one is in memory.
import type { RequestLine } from "./check-lines.ts";

/** Lines of a window: many times more than a model computes at once. */
const windowLinesMax = 256;
/** Characters of the texts that are compared, of each line: a long system message. */
const comparedLengthMax = 16_384;
/** Characters of all requests of a window: some images fit. */
const windowLengthMax = 16 * 1024 * 1024;

/** Yields all lines, each window sorted by model and text. */
export async function* byPrefix(
  lines: AsyncIterable<RequestLine>,
): AsyncGenerator<RequestLine, void, undefined> {
  let window: { key: string; line: RequestLine }[] = [];
  let length = 0;
  for await (const line of lines) {
    const text = promptText(line.body);
    window.push({ key: text.slice(0, comparedLengthMax), line });
    length += text.length;
    if (window.length < windowLinesMax && length < windowLengthMax) continue;
    yield* sorted(window);
    [window, length] = [[], 0];
  }
  yield* sorted(window);
}

function sorted(window: readonly { key: string; line: RequestLine }[]): RequestLine[] {
  return window
    .toSorted((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)))
    .map(({ line }) => line);
}

/** The fields that a prompt begins with, in that order, in any of the endpoints. */
function promptText({ model, tools, instructions, messages, prompt, input }: RequestLine["body"]): string {
  return JSON.stringify([model, tools, instructions, messages, prompt, input]);
}
