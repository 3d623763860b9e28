// Reads GET /api/v1/events of a server on a socket: for the tests of this package.
import { LiveEvent, type LiveRequest, type LogLine } from "@ingle/protocol";

export type LiveState = Extract<LiveEvent, { type: "state" }>;

/** One stream of events. Everything that came is kept, as it came. */
export class EventReader implements AsyncDisposable {
  readonly #leaving = new AbortController();
  readonly #events: AsyncGenerator<LiveEvent>;
  /** Every byte of the stream so far, as text. */
  text = "";
  readonly lines: LogLine[] = [];
  latest: LiveState | undefined;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#events = this.#read(url, headers);
  }

  /** The next state of which `is` is true, among them the latest one; the test's own time is the limit. */
  async until(is: (state: LiveState) => boolean): Promise<LiveState> {
    while (this.latest === undefined || !is(this.latest)) await this.next();
    return this.latest;
  }

  /** The newest row for which `is` holds, once there is one. */
  async row(is: (row: LiveRequest) => boolean): Promise<LiveRequest> {
    const { requests } = await this.until((state) => state.requests.some(is));
    const row = requests.find(is);
    if (row === undefined) throw new Error("There is no such row.");
    return row;
  }

  /** Reads until a line of the log has these words. */
  async line(words: string): Promise<LogLine> {
    for (;;) {
      const found = this.lines.find((line) => JSON.stringify(line).includes(words));
      if (found !== undefined) return found;
      await this.next();
    }
  }

  async next(): Promise<LiveEvent> {
    const { value, done } = await this.#events.next();
    if (done === true) throw new Error("The events have ended.");
    if (value.type === "state") this.latest = value;
    else this.lines.push(...value.lines);
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
  }

  async *#read(url: string, headers: Record<string, string>): AsyncGenerator<LiveEvent, undefined> {
    const reply = await fetch(`${url}/api/v1/events`, { signal: this.#leaving.signal, headers });
    if (!reply.ok) throw new Error(`The events are refused: ${await reply.text()}`);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of reply.body ?? []) {
      const text = decoder.decode(bytes, { stream: true });
      this.text += text;
      const whole = (rest + text).split("\n\n");
      rest = whole.pop() ?? "";
      for (const event of whole.filter((each) => each.startsWith("data: ")))
        yield LiveEvent.parse(JSON.parse(event.slice(6)));
    }
    return undefined;
  }
}
