// Sends malformed and extreme bodies to an endpoint over its socket: every response must be valid, or a documented error with its
// status, and the endpoint must continue to respond.
import { ErrorBody, isWireErrorCode, wireErrors, type WireErrorCode } from "@ingle/protocol";
import fc from "fast-check";
import { expect } from "vitest";
import type { z } from "zod";

/** Maximum duration of one response. */
const answerMs = 20_000;

export interface EndpointUnderTest {
  /** Such as "/v1/completions". */
  path: string;
  /** A body that gets 200. All others are made from it, so it should have every field that the endpoint knows. */
  body: Readonly<Record<string, unknown>>;
  /** The schema of a 200, if it is JSON. */
  response: z.ZodType;
  /** The schema of each event's data, if the endpoint streams. */
  event?: z.ZodType;
  /** The `type` of an error, if it differs from the table. */
  errorType?: (code: WireErrorCode) => string;
  /** Values at the limits of a field's rule, in addition to those that are tried for every field. */
  border?: Readonly<Record<string, readonly unknown[]>>;
}

/** Throws the property's counterexample: pass its seed and path to `fc.assert` to reproduce it. */
export async function expectSoundResponses(
  baseUrl: string,
  endpoint: EndpointUnderTest,
  { runs = 300 }: { runs?: number } = {},
): Promise<void> {
  const sent = fc.oneof({ weight: 5, arbitrary: changedBodies(endpoint) }, brokenTexts(endpoint));
  await fc.assert(
    fc.asyncProperty(sent, async (body) =>
      expectSoundResponse(await send(baseUrl, endpoint, body), endpoint),
    ),
    { numRuns: runs, endOnFailure: false },
  );
  const last = await send(baseUrl, endpoint, JSON.stringify(endpoint.body));
  expect([last.status, last.text]).toEqual([200, expect.anything()]);
  expectSoundResponse(last, endpoint);
}

interface Received {
  status: number;
  contentType: string;
  text: string;
}

async function send(
  baseUrl: string,
  { path }: EndpointUnderTest,
  body: string | Uint8Array,
): Promise<Received> {
  const response = await fetch(`${baseUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : new Uint8Array(body),
    signal: AbortSignal.timeout(answerMs),
  });
  const contentType = response.headers.get("content-type") ?? "";
  return { status: response.status, contentType, text: await response.text() };
}

function expectSoundResponse({ status, contentType, text }: Received, endpoint: EndpointUnderTest): void {
  const { response, event, errorType } = endpoint;
  if (status !== 200) expectSoundError(text, status, errorType);
  else if (contentType.startsWith("text/event-stream")) expectSoundStream(text, event);
  else response.parse(JSON.parse(text));
}

/** Whatever is sent, only client errors are allowed. */
function expectSoundError(text: string, status: number, typeOf: EndpointUnderTest["errorType"]): void {
  const { error } = ErrorBody.parse(JSON.parse(text));
  expect(error.code).toSatisfy(isWireErrorCode);
  if (!isWireErrorCode(error.code)) return;
  const expected = wireErrors[error.code];
  const type = typeOf?.(error.code) ?? expected.type;
  expect({ status, type: error.type }).toEqual({ status: expected.status, type });
  expect(status, text).toBeLessThan(500);
  expect(error.message).not.toMatch(/^\s+at |\n/m);
}

/** Whole events; `[DONE]` at the end, or an error instead. */
function expectSoundStream(text: string, event: z.ZodType | undefined): void {
  const events = text.split("\n\n");
  expect(events.pop()).toBe("");
  const data = events
    .filter((one) => !one.startsWith(":"))
    .map((one) => one.replace(/^(?:event: .*\n)?data: /, ""));
  const last = data.pop() ?? "";
  if (last !== "[DONE]" && last.startsWith('{"error"')) ErrorBody.parse(JSON.parse(last));
  else if (last !== "[DONE]") data.push(last);
  for (const one of data) event?.parse(JSON.parse(one));
}

/** Values that often break programs, for any field. */
const oddities: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -0, -1, 1, 2, 0.5, 1e-9, 1e308, -1e308),
  fc.constantFrom<unknown>(2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53, -(2 ** 53)),
  fc.constantFrom<unknown>(
    "",
    " ",
    "a",
    "\n",
    "\0",
    "\u{1F9ED}",
    "\uD800",
    "\uFFFE",
    "null",
    "0",
    "__proto__",
  ),
  fc.constantFrom<unknown>([], {}, [null], [[]], [{}], [""], { "": "" }, ["a", 1, null]),
  fc.constantFrom("x", " ", "\u{1F9ED}", "\n").map((character) => character.repeat(100_000)),
  fc.constantFrom<unknown>(0, "a", {}, []).map((item) => Array.from({ length: 20_000 }, () => item)),
  fc.integer({ min: 2, max: 2_000 }).map((depth) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`)),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: "binary", maxLength: 50 }),
);

type Path = readonly (string | number)[];

interface Change {
  path: Path;
  /** Absent: the field is removed. */
  value?: unknown;
}

/** The endpoint's valid body with one or a few changes, anywhere in it. */
function changedBodies({ body, border = {} }: EndpointUnderTest): fc.Arbitrary<string> {
  const path = fc.constantFrom<Path>(...listPaths(body));
  const removal = path.map((at): Change => ({ path: at }));
  const odd = fc.record({ path, value: oddities });
  const unknown = fc.record({ path: fc.string({ maxLength: 10 }).map((name) => [name]), value: oddities });
  const atBorder = Object.entries(border).flatMap(([name, values]) =>
    values.map((value): Change => ({ path: [name], value })),
  );
  const change = fc.oneof(
    { weight: 1, arbitrary: removal },
    { weight: 4, arbitrary: odd },
    { weight: 1, arbitrary: unknown },
    ...(atBorder.length === 0 ? [] : [{ weight: 4, arbitrary: fc.constantFrom(...atBorder) }]),
  );
  const changes = fc.array(change, { minLength: 1, maxLength: 3 });
  return changes.map((all) => JSON.stringify(all.reduce(changed, body)));
}

/** The paths of all values inside `value`. */
function listPaths(value: unknown, at: Path = []): Path[] {
  const inside = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const toKey = (name: string) => (Array.isArray(value) ? Number(name) : name);
  const deeper = inside.flatMap(([name, item]) => listPaths(item, [...at, toKey(name)]));
  return at.length === 0 ? deeper : [at, ...deeper];
}

function changed(value: unknown, { path: [first, ...rest], value: next }: Change): unknown {
  if (first === undefined) return next;
  if (typeof value !== "object" || value === null) return value; // an earlier change removed the place
  const inside: unknown = Reflect.get(value, first);
  const replaced = rest.length === 0 ? next : changed(inside, { path: rest, value: next });
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === first ? replaced : item));
  return { ...value, [first]: replaced };
}

/** Texts that are not a JSON object, or not UTF-8. */
function brokenTexts({ body }: EndpointUnderTest): fc.Arbitrary<string | Uint8Array> {
  const whole = JSON.stringify(body);
  return fc.oneof(
    fc.nat(whole.length - 1).map((end) => whole.slice(0, end)),
    fc.nat(whole.length - 1).map((at) => `${whole.slice(0, at)}${whole.slice(at + 1)}`),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.constantFrom(
      "",
      "{}",
      "[]",
      "null",
      `\uFEFF${whole}`,
      `${whole}${whole}`,
      `[${whole}]`,
      `{"__proto__":${whole}}`,
    ),
    fc.nat(whole.length - 1).map((at) => Buffer.from(whole).fill(0xff, at, at + 1)),
    fc.uint8Array({ maxLength: 40 }),
  );
}
