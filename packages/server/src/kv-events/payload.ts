// Encodes reports of blocks as vLLM's KV-cache events in MessagePack, which routers read (the vLLM adapter of llm-d's router,
// pkg/kvevents/engineadapter).
//
//   [seconds, [event, …]]
//   ["BlockStored", hashes, parent | nil, token ids, tokens of a block, adapter (nil), medium]
//   ["BlockRemoved", hashes, medium]
//   ["AllBlocksCleared"]
import { kvBlockTokens, type KvBlockMedium, type KvBlockReport } from "@ingle/engine";

/** Routers weigh blocks in the context by 1.0, and those that must be copied there by 0.8. */
const mediumNames: Record<KvBlockMedium, string> = { device: "gpu", host: "cpu" };
const media: readonly KvBlockMedium[] = ["device", "host"];

/** The payload of a report; undefined if it has no events. */
export function reportPayload(report: KvBlockReport, seconds: number): Buffer | undefined {
  const removed = media.filter((medium) => report.removed[medium].length > 0);
  const events = removed.length + report.stored.length;
  if (events === 0) return undefined;
  const tokens = report.stored.reduce((sum, stored) => sum + stored.tokens.length, 0);
  const hashes = report.stored.reduce((sum, stored) => sum + stored.hashes.length, 0);
  const gone = report.removed.device.length + report.removed.host.length;
  const out = new MessagePack(64 + 64 * events + 5 * tokens + 9 * (hashes + gone));
  writeHead(out, seconds, events);
  for (const medium of removed) {
    out.array(3);
    out.text("BlockRemoved");
    out.hashes(report.removed[medium]);
    out.text(mediumNames[medium]);
  }
  for (const { medium, parent, hashes: names, tokens: ids } of report.stored) {
    out.array(7);
    out.text("BlockStored");
    out.hashes(names);
    if (parent === 0n) out.nil();
    else out.hash(parent);
    out.array(ids.length);
    for (const id of ids) out.integer(id);
    out.integer(kvBlockTokens);
    out.nil();
    out.text(mediumNames[medium]);
  }
  return out.bytes();
}

/** The payload that voids all earlier events of a topic. */
export function clearedPayload(seconds: number): Buffer {
  const out = new MessagePack(64);
  writeHead(out, seconds, 1);
  out.array(1);
  out.text("AllBlocksCleared");
  return out.bytes();
}

function writeHead(out: MessagePack, seconds: number, events: number): void {
  out.array(2);
  out.float(seconds);
  out.array(events);
}

/** Writes the few MessagePack types that are needed, into a buffer that is large enough from the start. */
class MessagePack {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(bytesMax: number) {
    this.#buffer = Buffer.allocUnsafe(bytesMax);
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  nil(): void {
    this.#at = this.#buffer.writeUInt8(0xc0, this.#at);
  }

  float(value: number): void {
    this.#at = this.#buffer.writeUInt8(0xcb, this.#at);
    this.#at = this.#buffer.writeDoubleBE(value, this.#at);
  }

  /** 0 … 2^32 - 1. */
  integer(value: number): void {
    if (value < 0x80) {
      this.#at = this.#buffer.writeUInt8(value, this.#at);
    } else if (value < 0x1_00_00) {
      this.#at = this.#buffer.writeUInt8(0xcd, this.#at);
      this.#at = this.#buffer.writeUInt16BE(value, this.#at);
    } else {
      this.#at = this.#buffer.writeUInt8(0xce, this.#at);
      this.#at = this.#buffer.writeUInt32BE(value, this.#at);
    }
  }

  /** Always 64 bits: some readers do not take a shorter integer for a hash. */
  hash(value: bigint): void {
    this.#at = this.#buffer.writeUInt8(0xcf, this.#at);
    this.#at = this.#buffer.writeBigUInt64BE(value, this.#at);
  }

  hashes(values: BigUint64Array): void {
    this.array(values.length);
    for (const value of values) this.hash(value);
  }

  /** Shorter than 32 bytes, in ASCII. */
  text(value: string): void {
    this.#at = this.#buffer.writeUInt8(0xa0 | value.length, this.#at);
    this.#at += this.#buffer.write(value, this.#at, "latin1");
  }

  array(length: number): void {
    if (length < 16) {
      this.#at = this.#buffer.writeUInt8(0x90 | length, this.#at);
    } else {
      this.#at = this.#buffer.writeUInt8(0xdd, this.#at);
      this.#at = this.#buffer.writeUInt32BE(length, this.#at);
    }
  }
}
