// Reads the frames that an engine's thread sends, each with the events of a step. The addon writes them directly (EventPipe), so
// that the child's JavaScript does not delay tokens.
import { deserialize } from "node:v8";
import type { NativeStepReport } from "../addon.ts";

const headerBytes = 4;
/** More than the embeddings of a step take: a longer frame is corrupt. */
const frameBytesMax = 2 ** 28;

export class StepReportReader {
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes needed for the next frame, or for its header. */
  #wanted = headerBytes;

  /** Adds the bytes that arrived. Returns the reports that are complete. Throws if the bytes cannot be a report. */
  read(chunk: Buffer): NativeStepReport[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#wanted) return [];
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const reports: NativeStepReport[] = [];
    let at = 0;
    this.#wanted = headerBytes;
    while (bytes.length - at >= this.#wanted) {
      const end = at + headerBytes + bytes.readUInt32LE(at);
      if (end - at > frameBytesMax) throw new Error(`A step report of ${end - at} bytes is too long.`);
      if (end > bytes.length) {
        this.#wanted = end - at;
        break;
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the addon writes it by the rows that its types are compared with
      reports.push(deserialize(bytes.subarray(at + headerBytes, end)) as NativeStepReport);
      at = end;
    }
    this.#size = bytes.length - at;
    this.#chunks = this.#size === 0 ? [] : [bytes.subarray(at)];
    return reports;
  }
}
