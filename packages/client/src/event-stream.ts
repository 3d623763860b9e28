// Bytes of an answer -> the data of its server-sent events, however the bytes were cut. Used by chat-stream.ts.
import { createParser } from "eventsource-parser";

/**
 * Yields the data of each complete event. Comments (keep-alives) are passed over, and an event that the end of the
 * bytes cuts short is not yielded.
 */
export async function* readEvents(
  read: () => Promise<Uint8Array | undefined>,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  const complete: string[] = [];
  const parser = createParser({ onEvent: (event) => complete.push(event.data) });
  for (let bytes = await read(); bytes !== undefined; bytes = await read()) {
    // The decoder keeps the beginning of a character that the next bytes finish.
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* complete.splice(0);
  }
}
