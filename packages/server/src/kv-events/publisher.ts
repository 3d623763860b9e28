// Publishes which blocks of tokens this server could reuse, over ZeroMQ like vLLM: routers send a prompt to the server that has its
// prefix computed.
//
// A stream begins with AllBlocksCleared and all present blocks, numbered from 0. It starts over when its log is too long and when a
// model is freed. Routers see from the numbers that they missed events, or that the stream has started over.
import type { KvBlockFollower, KvBlockReport, Model } from "@ingle/engine";
import { networkAddresses } from "../access/ip-address.ts";
import { ConfigError, type ServerConfig } from "../config.ts";
import type { ModelRegistry } from "../models/registry.ts";
import { EventLog } from "./event-log.ts";
import { bindReplaySocket, EventSocket } from "./event-sockets.ts";
import { clearedPayload, reportPayload } from "./payload.ts";
import type { BoundSocket } from "./zmtp.ts";
import type { TcpEndpoint } from "../settings/rules.ts";

/** Maximum size of the log, enough for 3 million tokens. With more tokens, it is twice what they need. */
const logBytesMax = 16 * 1024 * 1024;
/** Maximum bytes of a block of 64 tokens with its hash. */
const bytesPerBlock = 400;

/** What the publisher needs from a model. */
export type ReportingModel = Pick<Model, "followKvBlocks"> & {
  readonly info: Pick<Model["info"], "reportsKvBlocks">;
};

/** A loaded model. */
interface Source {
  readonly topic: string;
  readonly follower: KvBlockFollower;
  /** Whether it has reported all its blocks since the stream began. */
  isCurrent: boolean;
  /** Number of reusable blocks. */
  blocks: number;
}

export interface KvEventOptions {
  /** The name under which routers know this server: `address:port`. */
  pod: string;
  publish: TcpEndpoint;
  replay?: TcpEndpoint | undefined;
  logBytesMax?: number | undefined;
  /** Maximum unsent bytes per subscriber besides the log. */
  unsentMax?: number | undefined;
}

export class KvEventPublisher implements AsyncDisposable {
  readonly #options: KvEventOptions;
  readonly #log = new EventLog();
  readonly #sources = new Map<string, Source>();
  /** Topics of this stream and earlier ones. */
  readonly #topics = new Set<string>();
  #events: EventSocket | undefined;
  #replay: BoundSocket | undefined;

  private constructor(options: KvEventOptions) {
    this.#options = options;
  }

  /** Rejects with what listening fails with. */
  static async open(options: KvEventOptions): Promise<KvEventPublisher> {
    const publisher = new KvEventPublisher(options);
    try {
      publisher.#events = await EventSocket.bind(options.publish, publisher.#log, options);
      if (options.replay !== undefined)
        publisher.#replay = await bindReplaySocket(options.replay, publisher.#log);
      return publisher;
    } catch (error) {
      await publisher[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Number of subscribers. */
  get subscribers(): number {
    return this.#events?.subscribers ?? 0;
  }

  get port(): number {
    return this.#events?.port ?? 0;
  }

  get replayPort(): number | undefined {
    return this.#replay?.port;
  }

  /** Publishes the blocks of a loaded model from now on, if it reports any. */
  loaded(id: string, model: ReportingModel): void {
    if (!model.info.reportsKvBlocks) return;
    const topic = `kv@${this.#options.pod}@${id}`;
    this.#topics.add(topic);
    if (this.#log.bytes === 0) this.#begin();
    const follower = model.followKvBlocks((report) => this.#reported(source, report));
    const source: Source = { topic, follower, isCurrent: false, blocks: 0 };
    this.#sources.set(id, source);
  }

  /** A model is freed, with all its blocks. */
  freed(id: string): void {
    const source = this.#sources.get(id);
    if (source === undefined) return;
    source.follower[Symbol.dispose]();
    this.#sources.delete(id);
    if (source.blocks > 0) this.#startOver();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { follower } of this.#sources.values()) follower[Symbol.dispose]();
    this.#sources.clear();
    await this.#events?.[Symbol.asyncDispose]();
    await this.#replay?.[Symbol.asyncDispose]();
  }

  #reported(source: Source, report: KvBlockReport): void {
    // Changes from before the stream started over: the full report is on its way.
    if (!report.isRestated && !source.isCurrent) return;
    // An unrequested full report: the model lost track of its changes.
    if (report.isRestated && source.isCurrent) this.#startOver();
    if (report.isRestated) source.blocks = 0;
    source.isCurrent = true;
    for (const { hashes } of report.stored) source.blocks += hashes.length;
    source.blocks -= report.removed.device.length + report.removed.host.length;
    const payload = reportPayload(report, Date.now() / 1000);
    if (payload !== undefined) this.#publish(source.topic, payload);
    if (this.#log.bytes > this.#logBytesMax) this.#startOver();
  }

  get #logBytesMax(): number {
    let blocks = 0;
    for (const source of this.#sources.values()) blocks += source.blocks;
    return Math.max(this.#options.logBytesMax ?? logBytesMax, 2 * bytesPerBlock * blocks);
  }

  /** Voids all events and asks the models for full reports. */
  #startOver(): void {
    this.#log.clear();
    this.#begin();
    for (const source of this.#sources.values()) {
      source.isCurrent = false;
      source.follower.restate();
    }
  }

  /** Sent for each topic, because a subscriber may follow only one. */
  #begin(): void {
    for (const topic of this.#topics) this.#publish(topic, clearedPayload(Date.now() / 1000));
  }

  #publish(topic: string, payload: Buffer): void {
    this.#events?.send(this.#log.add(topic, payload));
  }
}

/** Publishes the reusable blocks of a registry's models. Throws ConfigError if an address cannot be bound. */
export async function openKvEvents(
  { host, kvEvents }: Pick<ServerConfig, "host" | "kvEvents">,
  options: { port: number; registry: ModelRegistry; warn: (sentence: string) => void },
): Promise<KvEventPublisher | undefined> {
  if (kvEvents === undefined) return undefined;
  const { publish, replay, pod = ownAddress(host) } = kvEvents;
  const { port, registry, warn } = options;
  const publisher = await KvEventPublisher.open({ publish, replay, pod: `${pod}:${port}` }).catch(
    (cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ConfigError("--kv-events", `KV-cache events cannot be published: ${why}.`, { cause });
    },
  );
  registry.watch({
    loaded: (id, model) => {
      if (id.includes("@"))
        warn(`Routers cannot tell the KV-cache events of ${id} from others: its name has an @.`);
      publisher.loaded(id, model);
    },
    freed: (id) => publisher.freed(id),
  });
  return publisher;
}

/** The address under which other machines probably reach this server. */
function ownAddress(host: string): string {
  if (host !== "0.0.0.0" && host !== "::") return host;
  return networkAddresses()[0] ?? "127.0.0.1";
}
