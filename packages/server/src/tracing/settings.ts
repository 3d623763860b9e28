// Whether and where traces go, from OpenTelemetry's standard variables. The rest of this folder is only loaded with an endpoint.
import { z } from "zod";

/** How long a collector may take to respond; OpenTelemetry's own default. */
const timeoutMsDefault = 10_000;
const exportPath = "v1/traces";

export const TracingSettings = z.object({
  /** Where spans are posted, with the path. */
  url: z.url({ protocol: /^https?$/, error: "must be an http or https address" }),
  headers: z.record(z.string(), z.string()),
  timeoutMs: z.int("must be a whole number of milliseconds").min(1, "must be at least 1"),
  /** `service.name` and other attributes of this process. */
  resource: z.record(z.string(), z.string()),
  /** The fraction of traces starting here that is kept. */
  ratio: z.number("must be a number").min(0, "must be at least 0").max(1, "must be at most 1"),
  /** Whether the caller's sampling decision, if there is one, overrides the ratio. */
  followsParent: z.boolean(),
});
export type TracingSettings = z.infer<typeof TracingSettings>;

/** Throws for an environment variable that cannot be used: its name and why. */
export type Refuse = (variable: string, why: string) => never;

/** Undefined if no endpoint is configured, or tracing is disabled. */
export function tracingSettings(env: NodeJS.ProcessEnv, refuse: Refuse): TracingSettings | undefined {
  const first = (...names: string[]): { name: string; value: string } | undefined => {
    const name = names.find((candidate) => (env[candidate] ?? "") !== "");
    return name === undefined ? undefined : { name, value: env[name] ?? "" };
  };
  const ofTraces = (name: string) => first(`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`);

  const endpoint = ofTraces("ENDPOINT");
  if (endpoint === undefined || first("OTEL_SDK_DISABLED")?.value.toLowerCase() === "true") return undefined;
  const exporter = first("OTEL_TRACES_EXPORTER");
  if (exporter?.value === "none") return undefined;
  if (exporter !== undefined && exporter.value !== "otlp") refuse(exporter.name, 'must be "otlp" or "none"');
  const protocol = ofTraces("PROTOCOL");
  if (protocol !== undefined && protocol.value !== "http/json")
    refuse(protocol.name, 'must be "http/json", which collectors accept at the address of "http/protobuf"');

  const timeout = ofTraces("TIMEOUT");
  const result = TracingSettings.safeParse({
    url: tracesUrl(endpoint),
    headers: pairs(ofTraces("HEADERS")?.value),
    timeoutMs: timeout === undefined ? timeoutMsDefault : Number(timeout.value),
    resource: {
      ...pairs(env["OTEL_RESOURCE_ATTRIBUTES"]),
      "service.name": first("OTEL_SERVICE_NAME")?.value ?? serviceName(env),
    },
    ...sampler(first("OTEL_TRACES_SAMPLER"), first("OTEL_TRACES_SAMPLER_ARG"), refuse),
  });
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const variables: Readonly<Record<string, string | undefined>> = {
    url: endpoint.name,
    timeoutMs: timeout?.name,
    ratio: "OTEL_TRACES_SAMPLER_ARG",
  };
  return refuse(variables[String(issue?.path[0])] ?? endpoint.name, issue?.message ?? "cannot be used");
}

/** The general endpoint is a base URL; the one for traces is used as it is. */
function tracesUrl({ name, value }: { name: string; value: string }): string {
  if (name === "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") return value;
  return `${value.replace(/\/+$/, "")}/${exportPath}`;
}

function serviceName(env: NodeJS.ProcessEnv): string {
  return pairs(env["OTEL_RESOURCE_ATTRIBUTES"])["service.name"] ?? "ingle";
}

/** `a=1,b=2`, percent-decoded. Like other OpenTelemetry programs, it ignores entries that are not pairs. */
function pairs(text: string | undefined): Record<string, string> {
  const entries = (text ?? "").split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(entries);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a single percent sign
  }
}

function sampler(
  name: { name: string; value: string } | undefined,
  ratio: { value: string } | undefined,
  refuse: Refuse,
): { ratio: number; followsParent: boolean } {
  const [, parent = "", kind = ""] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(
    name?.value ?? "parentbased_always_on",
  ) ?? [undefined, "", ""];
  if (kind === "") refuse(name?.name ?? "", "must be always_on, always_off, traceidratio or parentbased_…");
  const ratios: Readonly<Record<string, number>> = { always_on: 1, always_off: 0 };
  return { ratio: ratios[kind] ?? Number(ratio?.value ?? 1), followsParent: parent !== "" };
}
