// What has been published since the stream began, for those who come later: it begins with AllBlocksCleared and everything that
// there was then, so that who reads all of it knows all of it. Used by publisher.ts, which begins anew when it is too long.
import { encodeMessage } from "./zmtp.ts";

export interface LoggedEvents {
  readonly topic: string;
  readonly sequence: number;
  /** Topic, sequence number and payload, as they go over the wire. */
  readonly message: Buffer;
}

export class EventLog {
  #events: LoggedEvents[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Numbered from 0 on. */
  add(topic: string, payload: Uint8Array): LoggedEvents {
    const sequence = this.#events.length;
    const frames = [Buffer.from(topic), sequenceFrame(BigInt(sequence)), payload];
    const events = { topic, sequence, message: encodeMessage(frames) };
    this.#events.push(events);
    this.#bytes += events.message.length;
    return events;
  }

  /** Those of this number and all after it. */
  from(sequence: number): readonly LoggedEvents[] {
    return this.#events.slice(sequence);
  }

  clear(): void {
    this.#events = [];
    this.#bytes = 0;
  }
}

/** 8 bytes, the highest first. */
export function sequenceFrame(sequence: bigint): Buffer {
  const frame = Buffer.alloc(8);
  frame.writeBigUInt64BE(sequence);
  return frame;
}
