// Reads GET /api/v1/events of a server, for tests.
import { LiveEvent, type LiveRequest, type LogLine } from "@ingle/protocol";

export type LiveState = Extract<LiveEvent, { type: "state" }>;

/** One stream of events; keeps everything that it received. */
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

  /** The first state for which `is` returns true, beginning with the latest one; the test's time limit ends the wait. */
  async until(is: (state: LiveState) => boolean): Promise<LiveState> {
    while (this.latest === undefined || !is(this.latest)) await this.next();
    return this.latest;
  }

  /** The newest row for which `is` returns true, once there is one. */
  async row(is: (row: LiveRequest) => boolean): Promise<LiveRequest> {
    const { requests } = await this.until((state) => state.requests.some(is));
    const row = requests.find(is);
    if (row === undefined) throw new Error("No row matches.");
    return row;
  }

  /** Reads until a log line contains these words. */
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
    else if (value.type === "log") this.lines.push(...value.lines);
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
  }

  async *#read(url: string, headers: Record<string, string>): AsyncGenerator<LiveEvent, undefined> {
    const response = await fetch(`${url}/api/v1/events`, { signal: this.#leaving.signal, headers });
    if (!response.ok) throw new Error(`The events were refused: ${await response.text()}`);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of response.body ?? []) {
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
