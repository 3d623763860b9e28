// Spans in OTLP's JSON format, and the W3C header that links them to the caller's.
import { randomBytes } from "node:crypto";

type AttributeValue = string | number | boolean | readonly string[];

/** Absent values are omitted. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** Of the caller's span; absent if the trace starts here. */
  parentId?: string;
  isSampled: boolean;
}

export interface Span {
  traceId: string;
  spanId: string;
  parentId?: string | undefined;
  name: string;
  /** `server` is a request; `internal` is work within it. */
  kind: "server" | "internal";
  /** Milliseconds since 1970. */
  startMs: number;
  endMs: number;
  attributes: Attributes;
  /** Why the work failed; absent if it succeeded. */
  failure?: string | undefined;
}

const kinds = { internal: 1, server: 2 } as const;
const statusError = 2;

export function newSpanId(): string {
  return randomBytes(8).toString("hex");
}

/** The caller's trace, or a new one that is kept with probability `ratio`. */
export function traceContext(
  traceparent: unknown,
  { ratio, followsParent }: { ratio: number; followsParent: boolean },
): TraceContext {
  const match =
    typeof traceparent === "string"
      ? /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(
          traceparent,
        )
      : null;
  const [, traceId = randomBytes(16).toString("hex"), parentId, flags = "00"] = match ?? [];
  if (parentId === undefined) return { traceId, isSampled: isKept(traceId, ratio) };
  const isSampled = followsParent ? (Number.parseInt(flags, 16) & 1) === 1 : isKept(traceId, ratio);
  return { traceId, parentId, isSampled };
}

/** The second half of the id decides, so that every service of a trace decides alike. */
function isKept(traceId: string, ratio: number): boolean {
  return Number(`0x${traceId.slice(16)}`) / 2 ** 64 < ratio;
}

/** The body of one export request. */
export function toExport(resource: Attributes, spans: readonly Span[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: toKeyValues(resource) },
        scopeSpans: [{ scope: { name: "ingle" }, spans: spans.map(toOtlp) }],
      },
    ],
  };
}

function toOtlp(span: Span): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentId,
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: toNanoseconds(span.startMs),
    endTimeUnixNano: toNanoseconds(span.endMs),
    attributes: toKeyValues(span.attributes),
    status: span.failure === undefined ? {} : { code: statusError, message: span.failure },
  };
}

/** 64-bit numbers are strings in OTLP's JSON. */
function toNanoseconds(ms: number): string {
  return (BigInt(Math.round(ms * 1000)) * 1000n).toString();
}

function toKeyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

function toValue(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(toValue) } };
}
