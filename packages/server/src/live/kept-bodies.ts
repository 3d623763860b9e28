// The bodies of requests and responses, kept while a client with the management right has switched this on: only in memory, within
// limits, and deleted when it is switched off.
import { keptBodiesLengthMax, keptBodiesMax, keptBodyLengthMax } from "@ingle/protocol";

/** Enough bytes of UTF-8 for any text of `keptBodyLengthMax`. */
const prefixBytesMax = keptBodyLengthMax * 3;

export class KeptBodies {
  #isOn = false;
  /** By request id, oldest first. */
  readonly #bodies = new Map<string, KeptBody>();
  #length = 0;

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Switching off deletes everything, including the kept parts of responses in progress. */
  switch(isOn: boolean): void {
    this.#isOn = isOn;
    if (isOn) return;
    for (const id of this.#bodies.keys()) this.forget(id);
  }

  /** Undefined if nothing is kept of this request. */
  of(id: string): Pick<KeptBody, "body" | "answer"> | undefined {
    return this.#bodies.get(id);
  }

  /** Keeps the start of a request's body, and of the response that is added later. Undefined while bodies are not kept. */
  keep(id: string, pieces: readonly Uint8Array[]): KeptBody | undefined {
    if (!this.#isOn) return undefined;
    const kept = new KeptBody(textPrefix(pieces), (added) => this.#grow(added));
    this.#bodies.set(id, kept);
    this.#grow(kept.body.length);
    return kept;
  }

  forget(id: string): void {
    const kept = this.#bodies.get(id);
    if (kept === undefined) return;
    this.#bodies.delete(id);
    this.#length -= kept.length;
    kept.drop();
  }

  /** Deletes the oldest bodies beyond the limits. */
  #grow(added: number): void {
    this.#length += added;
    for (const id of this.#bodies.keys()) {
      if (this.#bodies.size <= keptBodiesMax && this.#length <= keptBodiesLengthMax) return;
      this.forget(id);
    }
  }
}

/** What is kept of one request. */
export class KeptBody {
  #body: string;
  #answer = "";
  #isDropped = false;
  readonly #decoder = new TextDecoder();
  readonly #onGrowth: (added: number) => void;

  constructor(body: string, onGrowth: (added: number) => void) {
    this.#body = body;
    this.#onGrowth = onGrowth;
  }

  get body(): string {
    return this.#body;
  }

  get answer(): string {
    return this.#answer;
  }

  get length(): number {
    return this.#body.length + this.#answer.length;
  }

  /** Adds the next piece of the response, up to the limit. Does nothing after `drop()`. */
  addAnswer(piece: string | Uint8Array): void {
    const left = keptBodyLengthMax - this.#answer.length;
    if (this.#isDropped || left <= 0) return;
    const text = typeof piece === "string" ? piece : this.#decoder.decode(piece, { stream: true });
    const added = prefix(text, left);
    this.#answer += added;
    this.#onGrowth(added.length);
  }

  drop(): void {
    this.#isDropped = true;
    this.#body = "";
    this.#answer = "";
  }
}

/** Decodes the start of UTF-8 bytes, without a character that is cut at the end. */
function textPrefix(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  let text = "";
  let bytesLeft = prefixBytesMax;
  for (const piece of pieces) {
    if (bytesLeft <= 0 || text.length >= keptBodyLengthMax) break;
    text += decoder.decode(piece.subarray(0, bytesLeft), { stream: true });
    bytesLeft -= piece.length;
  }
  return prefix(text, keptBodyLengthMax);
}

/** Copies the start of a text: V8's slices would keep the whole original in memory. */
function prefix(text: string, lengthMax: number): string {
  return text.length <= lengthMax
    ? text
    : Buffer.from(text.slice(0, lengthMax), "utf16le").toString("utf16le");
}
