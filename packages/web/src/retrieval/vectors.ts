// Vectors of passages, in one byte a number: a quarter of the size, and the same ranking but for near ties. Pure.

/** A text's vector, scaled so that its largest number is 127: only its direction counts. */
export type Vector = Int8Array;

const largest = 127;

export function toVector(numbers: ArrayLike<number>): Vector {
  const max = Array.from(numbers).reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  return Int8Array.from(numbers, (number) => (max === 0 ? 0 : Math.round((number / max) * largest)));
}

/** The vector of a text from those of its parts. */
export function meanVector(parts: readonly ArrayLike<number>[]): number[] {
  const [first] = parts;
  return Array.from(first ?? [], (_number, at) =>
    parts.reduce((sum, part) => sum + (part[at] ?? 0) / parts.length, 0),
  );
}

/** 1 for the vector whose meaning is nearest to the question's, 0 for the farthest. */
export function scoreByMeaning(vectors: readonly Vector[], question: Vector): number[] {
  const near = vectors.map((vector) => cosine(vector, question));
  const min = near.reduce((a, b) => Math.min(a, b), 1);
  const max = near.reduce((a, b) => Math.max(a, b), -1);
  return near.map((each) => (max > min ? (each - min) / (max - min) : 0));
}

function cosine(a: Vector, b: Vector): number {
  let product = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (let at = 0; at < a.length; at += 1) {
    const [x = 0, y = 0] = [a[at], b[at]];
    product += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  const length = Math.sqrt(lengthA * lengthB);
  return length === 0 ? 0 : product / length;
}

/** The vectors of a document, as they are kept: those of its first passages, if the computation was stopped. */
interface KeptVectors {
  /** The embedding model that computed them. */
  model: string;
  /** How the text was split. */
  splitVersion: number;
  vectors: readonly Vector[];
}

/** A line of JSON, and the vectors one after another. */
export function packVectors({ vectors, ...how }: KeptVectors): Blob {
  const head = JSON.stringify({ ...how, size: vectors[0]?.length ?? 0 });
  return new Blob([head, "\n", ...vectors.map((vector) => Uint8Array.from(vector))], {
    type: "application/octet-stream",
  });
}

/** Undefined for anything else than what `packVectors` makes. */
export async function unpackVectors(data: Blob): Promise<KeptVectors | undefined> {
  const bytes = new Int8Array(await data.arrayBuffer());
  const lineEnd = bytes.indexOf("\n".charCodeAt(0));
  const head = parseHead(new TextDecoder().decode(bytes.subarray(0, Math.max(0, lineEnd))));
  if (head === undefined) return undefined;
  const { size, ...how } = head;
  const count = Math.floor((bytes.length - lineEnd - 1) / size);
  const vectors = Array.from({ length: count }, (_nothing, at) =>
    bytes.slice(lineEnd + 1 + at * size, lineEnd + 1 + (at + 1) * size),
  );
  return { ...how, vectors };
}

function parseHead(line: string): { model: string; splitVersion: number; size: number } | undefined {
  try {
    const { model, splitVersion, size }: Record<string, unknown> = JSON.parse(line);
    const isOurs = typeof model === "string" && typeof splitVersion === "number";
    return isOurs && typeof size === "number" && size > 0 ? { model, splitVersion, size } : undefined;
  } catch {
    // SyntaxError or TypeError: not ours.
    return undefined;
  }
}
