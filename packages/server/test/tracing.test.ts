// Traces as a collector receives them, over a real socket.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { resolveConfig } from "../src/config.ts";
import { serve } from "../src/serve.ts";
import { scriptedApp, scriptedId, scriptedRegistry } from "./harness/scripted-server.ts";

interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: object }[];
  status: { code?: number };
}

interface Collector extends AsyncDisposable {
  url: string;
  requests: { path: string | undefined; headers: Record<string, unknown>; text: string }[];
  spans(): WireSpan[];
}

async function collector(status = 200): Promise<Collector> {
  const requests: Collector["requests"] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = (await request.toArray()).join("");
    requests.push({ path: request.url, headers: request.headers, text });
    response.writeHead(status).end("{}");
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () => requests.flatMap(({ text }) => JSON.parse(text).resourceSpans[0].scopeSpans[0].spans),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Accepts all bodies, then closes, which sends the remaining spans. */
async function traced(
  env: Record<string, string>,
  bodies: readonly object[],
  headers: Record<string, string> = {},
  path = "chat/completions",
): Promise<Response[]> {
  const config = resolveConfig({ flags: { port: 0 }, env });
  const { registry } = await scriptedRegistry({ pieces: ["secret", "reply"] }, config);
  await using server = await serve(config, { logger: false, registry });
  const responses: Response[] = [];
  for (const body of bodies) {
    const response = await fetch(`${server.url}/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ messages: [{ role: "user", content: "secret prompt" }], ...body }),
    });
    await response.text();
    responses.push(response);
  }
  await (await fetch(`${server.url}/livez`)).text();
  return responses;
}

const attribute = (span: WireSpan | undefined, key: string): object | undefined =>
  span?.attributes.find((candidate) => candidate.key === key)?.value;

const parent = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };

describe("a trace", () => {
  it("contains the request and the generation, in the caller's trace, without text", async () => {
    await using place = await collector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: place.url, OTEL_EXPORTER_OTLP_HEADERS: "x-token=t" };
    const headers = { traceparent: `00-${parent.traceId}-${parent.spanId}-01`, "x-request-id": "mine" };
    await traced(
      env,
      [{ model: scriptedId, stream: true, temperature: 0.5, max_tokens: 7, seed: 3 }],
      headers,
    );
    expect(place.requests).toHaveLength(1);
    expect(place.requests[0]).toMatchObject({ path: "/v1/traces", headers: { "x-token": "t" } });
    const [server, generation] = place.spans();
    expect(server).toMatchObject({
      traceId: parent.traceId,
      parentSpanId: parent.spanId,
      name: "POST /v1/chat/completions",
      kind: 2,
      status: {},
    });
    expect(generation).toMatchObject({
      traceId: parent.traceId,
      parentSpanId: server?.spanId,
      name: `chat ${scriptedId}`,
      kind: 1,
    });
    expect(attribute(server, "http.response.status_code")).toEqual({ intValue: "200" });
    expect(attribute(server, "ingle.request.id")).toEqual({ stringValue: "mine" });
    const expected = {
      "gen_ai.operation.name": { stringValue: "chat" },
      "gen_ai.request.model": { stringValue: scriptedId },
      "gen_ai.request.temperature": { doubleValue: 0.5 },
      "gen_ai.request.max_tokens": { intValue: "7" },
      "gen_ai.usage.input_tokens": { intValue: String("user: secret prompt".length) },
      "gen_ai.usage.output_tokens": { intValue: "2" },
      "gen_ai.response.finish_reasons": { arrayValue: { values: [{ stringValue: "stop" }] } },
    };
    for (const [key, value] of Object.entries(expected)) expect(attribute(generation, key)).toEqual(value);
    expect(place.requests[0]?.text).not.toContain("secret");
    const nanoseconds = (text: string | undefined): bigint => BigInt(text ?? 0);
    expect(nanoseconds(server?.startTimeUnixNano)).toBeLessThanOrEqual(
      nanoseconds(generation?.startTimeUnixNano),
    );
    expect(Math.abs(Number(nanoseconds(server?.endTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(
      60_000,
    );
  });

  it("contains the work for embeddings, with the tokens and without text", async () => {
    await using place = await collector();
    const body = { model: scriptedId, input: ["secret", "text"] };
    await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: place.url }, [body], {}, "embeddings");
    const [server, embeddings] = place.spans();
    expect(embeddings).toMatchObject({ parentSpanId: server?.spanId, name: `embeddings ${scriptedId}` });
    expect(attribute(embeddings, "gen_ai.operation.name")).toEqual({ stringValue: "embeddings" });
    expect(attribute(embeddings, "gen_ai.usage.input_tokens")).toEqual({ intValue: "10" });
    expect(place.requests[0]?.text).not.toContain("secret");
  });

  it("of a refused request contains its code", async () => {
    await using place = await collector();
    await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: place.url }, [{ model: "other" }]);
    expect(place.spans()).toHaveLength(1); // neither a generation nor the probe
    expect(attribute(place.spans()[0], "error.type")).toEqual({ stringValue: "model_not_found" });
  });

  it("is dropped if the caller or the sampler decides so", async () => {
    await using place = await collector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: place.url };
    const headers = { traceparent: `00-${parent.traceId}-${parent.spanId}-00` };
    await traced(env, [{ model: scriptedId }], headers);
    await traced({ ...env, OTEL_TRACES_SAMPLER: "always_off" }, [{ model: scriptedId }]);
    expect(place.requests).toEqual([]);
    await traced({ ...env, OTEL_TRACES_SAMPLER: "always_on" }, [{ model: scriptedId }], headers);
    expect(place.spans()).toHaveLength(2);
  });

  it.each([
    "nonsense",
    `00-${"0".repeat(32)}-${parent.spanId}-01`,
    `00-${parent.traceId}-${"0".repeat(16)}-01`,
  ])("starts a new trace when the caller's header is %s", async (traceparent) => {
    await using place = await collector();
    await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: place.url }, [{ model: scriptedId }], { traceparent });
    expect(place.spans()[0]?.traceId).toMatch(/^(?!0{32}|0af76519)[0-9a-f]{32}$/);
    expect(place.spans()[0]?.parentSpanId).toBeUndefined();
  });
});

describe("without a collector", () => {
  it("nothing is traced", async () => {
    await using scripted = await scriptedApp();
    await scripted.app.ready();
    expect([scripted.app.hasPlugin("metrics"), scripted.app.hasPlugin("tracing")]).toEqual([true, false]);
  });
});

describe("a collector", () => {
  it("that fails changes no response", async () => {
    await using place = await collector(500);
    const [response] = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: place.url }, [{ model: scriptedId }]);
    expect(response?.status).toBe(200);
    expect(place.requests).toHaveLength(1);
  });

  it("that is unreachable changes no response and does not delay the end", async () => {
    const gone = await collector();
    await gone[Symbol.asyncDispose]();
    const [response] = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: gone.url }, [{ model: scriptedId }]);
    expect(response?.status).toBe(200);
  });
});
