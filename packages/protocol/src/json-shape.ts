// Parses JSON texts of clients, and measures them before that: 32 MiB may hold 16 million arrays, each of which takes far more memory and time than
// its two bytes.

/**
 * Maximum nesting depth of objects and arrays: the code that reads them recurses. Schemas nest deepest, and are limited to half
 * of this.
 */
export const depthMax = 512;
/**
 * Maximum number of objects, arrays, keys, strings and so on: more than fit into a context. Passing this many from one thread to
 * another blocks the server for 30 milliseconds.
 */
export const valuesMax = 65_536;
/** Maximum count of numbers in arrays, which are tokens and cheap: two million are twice the longest contexts. */
export const numbersMax = 2 * 1024 * 1024;

export interface JsonShape {
  values: number;
  /** Numbers in arrays; `values` does not count them. */
  numbers: number;
  /** The body's fields that are nested deeper than `depthMax`; undefined if there are none. */
  deepFields?: Set<string>;
}

/** The error for a text that exceeds a limit. */
type ShapeError = { code: "invalid_request" | "payload_too_large"; message: string };

const quote = 0x22;
const minus = 0x2d;
const backslash = 0x5c;
const [arrayOpen, arrayClose] = [0x5b, 0x5d];
const [objectOpen, objectClose] = [0x7b, 0x7d];

/** Undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined for anything but a JSON object. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object of JSON has strings as keys
  return isPlainObject(value) ? (value as Record<string, unknown>) : undefined;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads each byte once. Text that is not JSON has a shape too; parsing it fails later. */
export function measureShape(bytes: Uint8Array): JsonShape | ShapeError {
  const isArray = new Uint8Array(valuesMax + 2);
  let [depth, values, numbers, at] = [0, 0, 0, 0];
  let field: Uint8Array | undefined;
  let deepFields: Set<string> | undefined;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (isSeparator(byte)) {
      at += 1;
      continue;
    }
    if (byte === arrayClose || byte === objectClose) {
      depth = Math.max(0, depth - 1);
      at += 1;
      continue;
    }
    if (byte === arrayOpen || byte === objectOpen) {
      depth += 1;
      if (depth === depthMax + 1) deepFields = (deepFields ?? new Set()).add(nameIn(field));
      isArray[depth] = byte === arrayOpen ? 1 : 0;
      values += 1;
      at += 1;
    } else if (byte === quote) {
      const end = endOfText(bytes, at + 1);
      if (depth === 1) field = bytes.subarray(at, end); // if a container follows, this is its key
      values += 1;
      at = end;
    } else {
      if (isArray[depth] === 1 && isNumeric(byte)) numbers += 1;
      else values += 1;
      at = endOfWord(bytes, at + 1);
    }
    if (values > valuesMax) return depth > depthMax ? tooDeep() : tooMany(`${valuesMax} values`);
    if (numbers > numbersMax) return tooMany(`${numbersMax} numbers in arrays`);
  }
  return deepFields === undefined ? { values, numbers } : { values, numbers, deepFields };
}

/** The text of a key; empty if there is none. */
function nameIn(key: Uint8Array | undefined): string {
  const name = key === undefined ? undefined : parseJson(new TextDecoder().decode(key));
  return typeof name === "string" ? name : ""; // not JSON: parsing the body fails later
}

export function isShapeError(shape: JsonShape | ShapeError): shape is ShapeError {
  return "message" in shape;
}

function tooMany(what: string): ShapeError {
  return {
    code: "payload_too_large",
    message: `The body has more than ${what}; send less in one request.`,
  };
}

function tooDeep(): ShapeError {
  return {
    code: "invalid_request",
    message: `The body has more than ${valuesMax} values, nested deeper than ${depthMax} levels.`,
  };
}

/** Space, commas and colons. */
function isSeparator(byte: number): boolean {
  return byte <= 0x20 || byte === 0x2c || byte === 0x3a;
}

function isNumeric(byte: number): boolean {
  return byte === minus || (byte >= 0x30 && byte <= 0x39);
}

/** The position after the closing quote. */
function endOfText(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at + 1;
}

function endOfWord(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && !endsWord(bytes[at] ?? 0)) at += 1;
  return at;
}

function endsWord(byte: number): boolean {
  return isSeparator(byte) || byte === arrayClose || byte === objectClose || byte === quote;
}
