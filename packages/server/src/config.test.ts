import { describe, expect, it } from "vitest";
import { hashKey } from "./api-key.ts";
import { isLoopback } from "./access/ip-address.ts";
import { ConfigError, resolveConfig, type ServerFlags } from "./config.ts";
import { variantNames, variants } from "./variants.ts";

const resolve = (flags: ServerFlags = {}, env: Record<string, string> = {}) => resolveConfig({ flags, env });

function catchError(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error("no ConfigError was thrown");
}

describe("the variants", () => {
  it.each([
    ["desktop", "127.0.0.1", 1337, 40],
    ["developer", "127.0.0.1", 1234, 40],
    ["command-line", "127.0.0.1", 8080, 50],
    ["serverless", "0.0.0.0", 8000, 50],
  ] as const)("%s listens on %s:%i and has top_k %i", (variant, host, port, topK) => {
    expect(resolve({ variant, noAuth: true })).toMatchObject({ variant, host, port });
    expect(variants[variant].sampling.topK).toBe(topK);
  });

  it("desktop is the default, and only it moves to another port", () => {
    expect(resolve().variant).toBe("desktop");
    expect(variantNames.filter((name) => variants[name].portFallback)).toEqual(["desktop"]);
  });

  it("only developer serves LM Studio's API, unless the setting says otherwise", () => {
    const isServed = (variant: string, env = {}) => resolve({ variant, noAuth: true }, env).lmStudioApi;
    expect(variantNames.filter((variant) => isServed(variant))).toEqual(["developer"]);
    expect(isServed("developer", { INGLE_LM_STUDIO_API: "false" })).toBe(false);
    expect(isServed("desktop", { INGLE_LM_STUDIO_API: "true" })).toBe(true);
  });

  it("serverless has its own default model until MODEL_NAME names another", () => {
    const flags = { variant: "serverless", noAuth: true };
    expect(resolve(flags).model).toBe("LiquidAI/LFM2-8B-A1B");
    expect(resolve(flags, { MODEL_NAME: "other/model" }).model).toBe("other/model");
    expect(resolve().model).toBeUndefined();
  });
});

describe("KV-cache events", () => {
  it.each([
    ["tcp://*:5557", { host: "0.0.0.0", port: 5557 }],
    ["tcp://127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
    ["tcp://[::1]:5557", { host: "::1", port: 5557 }],
    ["tcp://pod-0.servers:5557", { host: "pod-0.servers", port: 5557 }],
  ])("%s is an address to publish them on", (kvEvents, publish) => {
    expect(resolve({ kvEvents }).kvEvents).toEqual({ publish });
  });

  it("use the address that a cluster sets, which alone publishes nothing", () => {
    const env = { POD_IP: "10.0.0.7" };
    expect(resolve({}, env).kvEvents).toBeUndefined();
    const flags = { kvEvents: "tcp://*:5557", kvEventsReplay: "tcp://*:5558" };
    expect(resolve(flags, env).kvEvents).toMatchObject({ pod: "10.0.0.7", replay: { port: 5558 } });
  });
});

describe("precedence", () => {
  it("is variant < environment < flag", () => {
    expect(resolve({}, { PORT: "4000" }).port).toBe(4000);
    expect(resolve({ port: 5000 }, { PORT: "4000" }).port).toBe(5000);
    expect(resolve({ port: 0 }, { PORT: "4000" }).port).toBe(0);
  });

  it("prefers INGLE_PORT to the platform's PORT, and treats empty variables as not set", () => {
    expect(resolve({}, { PORT: "4000", INGLE_PORT: "4001" }).port).toBe(4001);
    expect(resolve({}, { PORT: "" }).port).toBe(1337);
  });

  it("reads the variant from the environment, with its defaults", () => {
    expect(resolve({}, { INGLE_VARIANT: "developer" }).port).toBe(1234);
  });

  it("reads lists, numbers and toggles", () => {
    const config = resolve(
      {},
      {
        INGLE_API_KEYS: "one, two,",
        INGLE_INSECURE_SHORT_KEY: "true",
        INGLE_CTX: "512",
        INGLE_CONTEXT_OVERFLOW: "shift",
        INGLE_SPECULATION: "ngram",
        INGLE_CACHE_RAM: "0",
        INGLE_DRAFT_TOKENS: "6",
        INGLE_ALLOW_HOSTS: "Chat.Example",
        INGLE_NO_AUTH: "false",
      },
    );
    expect(config).toMatchObject({
      keyDigests: [hashKey("one"), hashKey("two")],
      engine: {
        contextLength: 512,
        contextOverflow: "shift",
        speculation: "ngram",
        draftTokens: 6,
        cacheRamMiB: 0,
      },
      allowHosts: ["chat.example"],
      noAuth: false,
    });
  });
});

describe("toggles", () => {
  it.each(["1", "true", "Yes", "ON"])("are set by %s, as in the Hugging Face tools", (word) => {
    expect(resolve({}, { HF_HUB_OFFLINE: word }).offline).toBe(true);
  });

  it.each(["0", "false", "NO", "off"])("are unset by %s", (word) => {
    expect(resolve({}, { HF_HUB_OFFLINE: word }).offline).toBe(false);
  });
});

describe("errors", () => {
  it("say that a value must not be empty", () => {
    for (const flags of [{ model: "" }, { mmproj: "" }, { draftModel: "" }, { cacheDir: "" }])
      expect(catchError(() => resolve(flags)).message).toMatch(/^--[a-z-]+ must not be empty\.$/);
  });

  it.each<[ServerFlags, Record<string, string>, string]>([
    [{ port: 70_000 }, {}, "--port"],
    [{ variant: "mobile" }, {}, "--variant"],
    [{ ctx: 1 }, {}, "--ctx"],
    [{ cacheRam: -1 }, {}, "--cache-ram"],
    [{}, { INGLE_CACHE_RAM: "much" }, "INGLE_CACHE_RAM"],
    [{ allowHost: ["a/b"] }, {}, "--allow-host"],
    [{ allowHost: ["*chat.example"] }, {}, "--allow-host"],
    [{ allowHost: ["*.10.0.0.1/8"] }, {}, "--allow-host"],
    [{ allowHost: ["*"] }, {}, "--allow-host"],
    [{}, { INGLE_ALLOW_HOSTS: "chat.example,*", HOST: "localhost" }, "INGLE_ALLOW_HOSTS"],
    [{ allowImageHost: ["*.images.example"] }, {}, "--allow-image-host"],
    [{ allowOrigin: ["https://chat.example/path"] }, {}, "--allow-origin"],
    [{ allowOrigin: ["https://*"] }, {}, "--allow-origin"],
    [{ allowOrigin: ["*"] }, {}, "--allow-origin"],
    [{ allowOrigin: ["app://notes.example/index.html"] }, {}, "--allow-origin"],
    [{ trustProxy: ["true"] }, {}, "--trust-proxy"],
    [{}, { INGLE_TRUST_PROXIES: "10.0.0.0/33" }, "INGLE_TRUST_PROXIES"],
    [{ connectionsPerAddress: -1 }, {}, "--connections-per-address"],
    [{ apiKeyFile: "" }, {}, "--api-key-file"],
    [{ idleUnload: "1ms" }, {}, "--idle-unload"],
    [{ drainTimeout: "soon" }, {}, "--drain-timeout"],
    [{ rateLimit: -1 }, {}, "--rate-limit"],
    [{ metricsCompat: "other" }, {}, "--metrics-compat"],
    [{ kvEvents: "5557" }, {}, "--kv-events"],
    [{ kvEvents: "tcp://*:70000" }, {}, "--kv-events"],
    [{}, { INGLE_KV_EVENTS: "ipc:///tmp/events" }, "INGLE_KV_EVENTS"],
    [{ kvEvents: "tcp://*:5557" }, { INGLE_KV_EVENTS_REPLAY: "tcp://[::x]:1" }, "INGLE_KV_EVENTS_REPLAY"],
    [{ kvEvents: "tcp://*:5557", kvEventsPod: "no name" }, {}, "--kv-events-pod"],
    [{ kvEventsReplay: "tcp://*:5558" }, {}, "--kv-events-replay"],
    [{ tlsCert: "cert.pem" }, {}, "--tls-cert"],
    [{}, { INGLE_TLS_KEY: "key.pem" }, "INGLE_TLS_KEY"],
    [{}, { INGLE_REQUEST_TIMEOUT: "-1" }, "INGLE_REQUEST_TIMEOUT"],
    [{}, { INGLE_HEADERS_TIMEOUT: "1" + "0".repeat(12) }, "INGLE_HEADERS_TIMEOUT"],
    [{}, { INGLE_STALLED_READER_TIMEOUT: "0" }, "INGLE_STALLED_READER_TIMEOUT"],
    [{}, { PORT: "http" }, "PORT"],
    [{}, { INGLE_VARIANT: "mobile" }, "INGLE_VARIANT"],
    [{}, { INGLE_NO_AUTH: "perhaps" }, "INGLE_NO_AUTH"],
    [{}, { INGLE_PARALLEL: "-1" }, "INGLE_PARALLEL"],
    [{}, { INGLE_CONTEXT_OVERFLOW: "wrap" }, "INGLE_CONTEXT_OVERFLOW"],
    [{}, { INGLE_SPECULATION: "wild" }, "INGLE_SPECULATION"],
    [{ draftTokens: 17 }, {}, "--draft-tokens"],
  ])("%j with %j names %s", (flags, env, setting) => {
    const error = catchError(() => resolve(flags, env));
    expect(error.setting).toBe(setting);
    expect(error.message).toContain(setting);
  });
});

describe("keys", () => {
  it.each<[ServerFlags, Record<string, string>, string]>([
    [{ apiKey: ["fifteen-letters"] }, {}, "--api-key"],
    [{ apiKey: ["a-key-that-is-long-enough", "k"] }, {}, "--api-key"],
    [{ adminKey: ["k"] }, {}, "--admin-key"],
    [{}, { INGLE_API_KEYS: "k" }, "INGLE_API_KEYS"],
    [{}, { INGLE_ADMIN_KEYS: "k" }, "INGLE_ADMIN_KEYS"],
  ])("that can be guessed are refused: %j with %j names %s", (flags, env, setting) => {
    const error = catchError(() => resolve(flags, env));
    expect(error.setting).toBe(setting);
    expect(error.message).toMatch(
      /must be at least 16 characters.*openssl rand -hex 32.*--insecure-short-key/,
    );
    expect(error.message).not.toContain("fifteen-letters");
  });

  it("of 16 characters are accepted, and shorter ones with --insecure-short-key", () => {
    expect(resolve({ apiKey: ["sixteen--letters"] }).keyDigests).toHaveLength(1);
    expect(resolve({ adminKey: ["k"], insecureShortKey: true }).adminKeyDigests).toHaveLength(1);
    expect(() => resolve({ apiKey: [""], insecureShortKey: true })).toThrow(/must not be empty/);
  });
});

describe("an address that others can reach", () => {
  it.each(["0.0.0.0", "::", "192.168.1.5", "example.org"])("%s is refused without a key", (host) => {
    expect(catchError(() => resolve({ host })).setting).toBe("--host");
    expect(catchError(() => resolve({}, { HOST: host })).setting).toBe("HOST");
  });

  it("is refused for serverless too", () => {
    expect(catchError(() => resolve({ variant: "serverless" })).message).toContain("--no-auth");
  });

  it("is accepted with a key, or with --no-auth", () => {
    const config = resolve({ host: "0.0.0.0", apiKey: ["secret-of-16-characters"] });
    expect(config.keyDigests).toHaveLength(1);
    expect(JSON.stringify(config)).not.toContain("secret");
    expect(resolve({ host: "0.0.0.0", adminKey: ["secret-of-16-characters"] }).adminKeyDigests).toHaveLength(
      1,
    );
    expect(resolve({ host: "0.0.0.0", apiKeyFile: "keys" }).keyFile).toBe("keys");
    expect(resolve({ host: "0.0.0.0", noAuth: true }).noAuth).toBe(true);
  });

  it("does not include loopback", () => {
    expect(["127.0.0.1", "127.8.0.1", "::1", "localhost"].every(isLoopback)).toBe(true);
    expect(["127.0.0.1.evil.com", "localhost.evil.com", "::", "10.0.0.1"].some(isLoopback)).toBe(false);
  });
});
