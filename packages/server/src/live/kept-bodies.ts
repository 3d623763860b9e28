// The bodies of requests and answers, while somebody who manages the server has switched them on: in memory alone, within limits,
// and gone at once when they are switched off.
import { keptBodiesLengthMax, keptBodiesMax, keptBodyLengthMax } from "@ingle/protocol";

/** Bytes of UTF-8 that hold any text of `keptBodyLengthMax`. */
const prefixBytesMax = keptBodyLengthMax * 3;

export class KeptBodies {
  #isOn = false;
  /** By the request's id, the oldest first. */
  readonly #bodies = new Map<string, KeptBody>();
  #length = 0;

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Off forgets everything, and what is still being written is not kept. */
  switch(isOn: boolean): void {
    this.#isOn = isOn;
    if (isOn) return;
    for (const id of this.#bodies.keys()) this.forget(id);
  }

  /** Undefined if nothing of this request is kept. */
  of(id: string): Pick<KeptBody, "body" | "answer"> | undefined {
    return this.#bodies.get(id);
  }

  /** Keeps the beginning of a request's body, and whatever is added of its answer. Undefined while bodies are not kept. */
  keep(id: string, pieces: readonly Uint8Array[]): KeptBody | undefined {
    if (!this.#isOn) return undefined;
    const kept = new KeptBody(prefixOf(pieces), (added) => this.#grow(added));
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

  /** Drops the oldest beyond the limits. */
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

  /** Takes the next piece of the answer, up to the limit. After `drop()` it does nothing. */
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

/** The beginning of UTF-8 as text; a character that is cut at its end is left out. */
function prefixOf(pieces: readonly Uint8Array[]): string {
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

/** The beginning of a text as one of its own: V8's slices keep all of the text that they are cut from in memory. */
function prefix(text: string, lengthMax: number): string {
  return text.length <= lengthMax
    ? text
    : Buffer.from(text.slice(0, lengthMax), "utf16le").toString("utf16le");
}
