// Posts spans to a collector in batches, in the background. A collector that is slow or gone costs a bounded piece of
// memory and nothing else: what does not fit is dropped. Used by plugins/tracing.ts.
import { toExport, type Span } from "./spans.ts";
import type { TracingSettings } from "./settings.ts";

/** Spans that may wait; OpenTelemetry's own default. */
const queueMax = 2_048;
const batchMax = 512;
/** Longest time until a span is sent. */
const delayMs = 5_000;

export interface ExporterDependencies {
  /** Told once a failure begins, not with every batch of it. */
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

  /** Sends what waits. Never rejects: a failure is told to `onFailure`. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll();
    await this.#sending;
  }

  /** Sends what is left, within one time limit of the collector. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush();
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#send(this.#queue.splice(0, batchMax));
      this.#isFailing = false;
    } catch (error) {
      this.#queue = []; // they would only be sent to the same collector again
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
    if (!response.ok) throw new Error(`The collector at ${url} answered ${response.status}.`);
  }
}
