// Server-sent events as text, and what holds for every stream of them: a comment while it is silent, and an error
// event instead of a cut once something was sent. Used by send-events.ts and by the streams of each
// protocol.

/** Ends a stream that is whole. */
export const doneEvent = "data: [DONE]\n\n";
/** A line that clients skip; it keeps proxies from closing a silent stream. */
export const keepAliveComment = ":\n\n";

/** JSON never holds a line break, so one line is always enough. */
export function dataEvent(json: string): string {
  return `data: ${json}\n\n`;
}

/** For the protocols whose events have names. */
export function namedEvent(name: string, json: string): string {
  return `event: ${name}\n${dataEvent(json)}`;
}

/** Writes events of objects that begin alike: what all of them have is made into text once. Takes the rest as JSON. */
export function eventsWithHead(head: object): (rest: string) => string {
  const open = `data: ${JSON.stringify(head).slice(0, -1)},`;
  return (rest) => `${open}${rest.slice(1)}\n\n`;
}

export interface EventStreamOptions {
  /** Longest silence before a comment is sent. */
  keepAliveMs: number;
  /** The event that tells a client of an error, whole. */
  toErrorEvent: (error: unknown) => string;
}

/**
 * Passes events on. An error before anything was sent is thrown, so that it can be an HTTP error; a later one becomes
 * the last event, and nothing follows it: what was cut short never looks whole.
 */
export async function* eventStream(
  events: AsyncIterable<string>,
  options: EventStreamOptions,
): AsyncGenerator<string, void, undefined> {
  let isStarted = false;
  try {
    for await (const event of withKeepAlive(events, options.keepAliveMs)) {
      isStarted = true;
      yield event;
    }
  } catch (error) {
    if (!isStarted) throw error;
    yield options.toErrorEvent(error);
  }
}

async function* withKeepAlive(
  events: AsyncIterable<string>,
  silenceMs: number,
): AsyncGenerator<string, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    for (;;) {
      const result = await orSilence(next, silenceMs);
      if (result === "silence") {
        yield keepAliveComment;
        continue;
      }
      if (result.done === true) return;
      yield result.value;
      next = iterator.next();
    }
  } finally {
    void closeQuietly(iterator); // a pending next() may take long to settle, and the reply has ended
  }
}

async function orSilence<T>(pending: Promise<T>, silenceMs: number): Promise<T | "silence"> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<"silence">((resolve) => {
    timer = setTimeout(resolve, silenceMs, "silence");
  });
  try {
    return await Promise.race([pending, silence]);
  } finally {
    clearTimeout(timer);
  }
}

async function closeQuietly(iterator: AsyncIterator<string>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // Nobody reads the stream any more: its error has gone to the reply or to nobody.
  }
}
