import { describe, expect, it } from "vitest";
import { ConfigError, resolveConfig } from "../config.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
const read = (env: Record<string, string>) => resolveConfig({ flags: {}, env }).tracing;

describe("tracing", () => {
  it.each<Record<string, string>>([
    {},
    { OTEL_SERVICE_NAME: "chat" },
    { ...endpoint, OTEL_SDK_DISABLED: "true" },
    { ...endpoint, OTEL_TRACES_EXPORTER: "none" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
  ])("is off with %j", (env) => {
    expect(read(env)).toBeUndefined();
  });

  it("needs only an endpoint", () => {
    expect(read(endpoint)).toEqual({
      url: "http://collector:4318/v1/traces",
      headers: {},
      timeoutMs: 10_000,
      resource: { "service.name": "ingle" },
      ratio: 1,
      followsParent: true,
    });
  });

  it("prefers variables for traces to those for all signals", () => {
    const settings = read({
      ...endpoint,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces.example/in",
      OTEL_EXPORTER_OTLP_HEADERS: "a=1",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "api-key=s%20x, b = 2,,broken",
      OTEL_EXPORTER_OTLP_TIMEOUT: "2000",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=desk",
      OTEL_SERVICE_NAME: "chat",
      OTEL_TRACES_SAMPLER: "traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
    });
    expect(settings).toEqual({
      url: "https://traces.example/in",
      headers: { "api-key": "s x", b: "2" },
      timeoutMs: 2_000,
      resource: { "service.name": "chat", "deployment.environment.name": "desk" },
      ratio: 0.25,
      followsParent: false,
    });
  });

  it.each<[Record<string, string>, string]>([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "OTEL_EXPORTER_OTLP_PROTOCOL"],
    [
      { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf" },
      "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    ],
    [{ ...endpoint, OTEL_TRACES_EXPORTER: "zipkin" }, "OTEL_TRACES_EXPORTER"],
    [{ ...endpoint, OTEL_TRACES_SAMPLER: "sometimes" }, "OTEL_TRACES_SAMPLER"],
    [
      { ...endpoint, OTEL_TRACES_SAMPLER_ARG: "2", OTEL_TRACES_SAMPLER: "traceidratio" },
      "OTEL_TRACES_SAMPLER_ARG",
    ],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: "soon" }, "OTEL_EXPORTER_OTLP_TIMEOUT"],
  ])("with %j names what is wrong: %s", (env, variable) => {
    expect(() => read(env)).toThrow(
      expect.toSatisfy((error) => error instanceof ConfigError && error.setting === variable),
    );
  });
});
