// Reads a file or a stream line by line: only one line is in memory at a time.

export interface InputLine {
  /** Beginning with 1; empty lines count. */
  readonly number: number;
  /** Without the line break; undefined if the line is longer than the limit. */
  readonly bytes: Buffer | undefined;
}

const lineFeed = 0x0a;

/** Yields the lines that are not blank. A line of more than `bytesMax` bytes is skipped as it is read. */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  { bytesMax }: { bytesMax: number },
): AsyncGenerator<InputLine, void, undefined> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 1;
  const add = (part: Uint8Array): void => {
    length += part.length;
    if (length > bytesMax) parts = [];
    else parts.push(part);
  };
  const take = (): InputLine => {
    const line = { number, bytes: length > bytesMax ? undefined : Buffer.concat(parts) };
    [parts, length, number] = [[], 0, number + 1];
    return line;
  };
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      add(chunk.subarray(from, end));
      from = end + 1;
      const line = take();
      if (!isBlank(line)) yield line;
    }
    add(chunk.subarray(from));
  }
  const last = take();
  if (!isBlank(last)) yield last;
}

function isBlank({ bytes }: InputLine): boolean {
  return bytes !== undefined && (bytes.length === 0 || /^\s*$/.test(bytes.toString("latin1")));
}
