// Sends spans to a collector in batches, in the background. A slow or unreachable collector costs only a bounded queue: spans that do
// not fit are dropped.
import { toExport, type Span } from "./spans.ts";
import type { TracingSettings } from "./settings.ts";

/** Maximum number of queued spans; OpenTelemetry's own default. */
const queueMax = 2_048;
const batchMax = 512;
/** Longest delay until a span is sent. */
const delayMs = 5_000;

interface ExporterDependencies {
  /** Called for the first of consecutive failed batches, not for each. */
  onFailure: (error: unknown) => void;
  fetch?: typeof fetch;
}

export class SpanExporter implements AsyncDisposable {
  readonly #settings: TracingSettings;
  readonly #dependencies: ExporterDependencies;
  #queue: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;

  constructor(settings: TracingSettings, dependencies: ExporterDependencies) {
    this.#settings = settings;
    this.#dependencies = dependencies;
  }

  add(...spans: readonly Span[]): void {
    if (this.#queue.length + spans.length > queueMax) return;
    this.#queue.push(...spans);
    this.#timer ??= setTimeout(() => void this.flush(), delayMs).unref();
    if (this.#queue.length >= batchMax) void this.flush();
  }

  /** Sends the queue. Never rejects: failures go to `onFailure`. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll();
    await this.#sending;
  }

  /** Sends the rest, within the collector's time limit. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush();
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#send(this.#queue.splice(0, batchMax));
      this.#isFailing = false;
    } catch (error) {
      this.#queue = []; // dropped: the same collector would fail again
      if (!this.#isFailing) this.#dependencies.onFailure(error);
      this.#isFailing = true;
    } finally {
      this.#sending = undefined;
    }
  }

  async #send(spans: readonly Span[]): Promise<void> {
    const { url, headers, timeoutMs, resource } = this.#settings;
    const response = await (this.#dependencies.fetch ?? fetch)(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(toExport(resource, spans)),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`The collector at ${url} returned status ${response.status}.`);
  }
}
