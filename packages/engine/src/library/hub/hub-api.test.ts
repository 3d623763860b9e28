// Requests to the hub, and the errors for refused ones.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LibraryOptions } from "../library-options.ts";
import { locateModel } from "../locate.ts";
import { describeRepository, searchModels } from "../search-hub.ts";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import { FakeHub, goodToken } from "@ingle/fixtures/fake-hub";
import { fetchModel } from "../fetch-model.ts";
import { failure } from "../../../test/harness/failure.ts";

const gguf = fakeGguf();
let home: string;
let hub: FakeHub;

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-hub-api-"));
  hub = await FakeHub.start(
    {
      repo: "acme/open-GGUF",
      files: { "open-Q4_K_M.gguf": gguf, "open-Q8_0.gguf": fakeGguf({ dataBytes: 128 }) },
    },
    { repo: "acme/gated-GGUF", files: { "gated-Q4_K_M.gguf": gguf }, isGated: true },
    { repo: "acme/private-GGUF", files: { "private-Q4_K_M.gguf": gguf }, isPrivate: true },
    { repo: "acme/open", files: { "model.safetensors": Buffer.alloc(9), "config.json": Buffer.from("{}") } },
    { repo: "acme/original", files: { "model.safetensors": Buffer.alloc(9) } },
  );
});

afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

function hubOptions(env: NodeJS.ProcessEnv = {}): LibraryOptions {
  const wait = async (): Promise<void> => {};
  return { env: { HOME: home, INGLE_HOME: home, HF_ENDPOINT: hub.url, ...env }, wait, memoryBytes: 8e9 };
}

async function fetched(spec: string, options: LibraryOptions): Promise<string> {
  return await fetchModel(await locateModel(spec, options), options);
}

describe("a search", () => {
  test("finds GGUF repositories, up to the limit", async () => {
    const found = await searchModels("OPEN", { ...hubOptions(), limit: 1 });
    expect(found).toEqual([{ repo: "acme/open-GGUF", downloads: 1234, likes: 5, isGated: false }]);
    expect(hub.requests[0]?.url).toContain("filter=gguf");
    expect(hub.requests[0]?.url).toContain("limit=1");
  });

  test("of a repository shows its models and their memory, without reading weights", async () => {
    const { models, facts, license } = await describeRepository("acme/open-GGUF", hubOptions());
    expect(license).toBe("apache-2.0");
    expect(facts).toMatchObject({ architecture: "lfm2", contextLength: 128_000 });
    expect(models.map(({ id }) => id)).toEqual(["acme/open-GGUF:Q4_K_M", "acme/open-GGUF:Q8_0"]);
    expect(models.every(({ fits, memoryBytes }) => fits && memoryBytes > 256 * 1024 * 1024)).toBe(true);
    const small = { ...hubOptions(), memoryBytes: 1e6 };
    expect((await describeRepository("acme/open-GGUF", small)).models.some(({ fits }) => fits)).toBe(false);
  });

  test("of an invalid repository name makes no request", async () => {
    for (const name of ["", "open", "./open.gguf", "../../api", "npm:open@1.0.0", "acme/open?x=1"])
      await expect(describeRepository(name, hubOptions())).rejects.toMatchObject({ code: "invalid_request" });
    expect(hub.requests).toEqual([]);
  });
});

describe("a repository", () => {
  test("of original weights is replaced by its sibling with GGUF files", async () => {
    expect(await locateModel("acme/open", hubOptions())).toMatchObject({
      kind: "hub",
      id: "acme/open-GGUF:Q4_K_M",
    });
  });

  test("of original weights without a sibling is refused with its contents", async () => {
    const error = await failure(locateModel("acme/original", hubOptions()));
    expect(error.code).toBe("model_not_found");
    expect(error.message).toContain("safetensors");
  });

  test("that was renamed is found under its new name", async () => {
    hub.intercept = (request, response) => {
      if (request.url?.startsWith("/api/models/acme/old") !== true) return false;
      response.writeHead(307, { location: request.url.replace("acme/old", "acme/open-GGUF") }).end();
      return true;
    };
    expect(await locateModel("acme/old", hubOptions())).toMatchObject({ id: "acme/open-GGUF:Q4_K_M" });
  });

  test("that redirects in a circle is an error", async () => {
    hub.intercept = (request, response) => {
      response.writeHead(302, { location: request.url ?? "" }).end();
      return true;
    };
    expect((await failure(locateModel("acme/open", hubOptions()))).code).toBe("download_failed");
  });
});

describe("a refusal says what to do", () => {
  test("for terms that were not accepted", async () => {
    const without = await failure(fetched("acme/gated-GGUF", hubOptions()));
    expect(without.code).toBe("download_failed");
    expect(without.message).toMatch(
      /requires accepting its terms.*acme\/gated-GGUF.*HF_TOKEN to a token of that account/,
    );
    const wrong = await failure(fetched("acme/gated-GGUF", hubOptions({ HF_TOKEN: "hf_other" })));
    expect(wrong.details["status"]).toBe(403);
    expect(wrong.message).toContain("with the account of your HF_TOKEN");
    await fetched("acme/gated-GGUF", hubOptions({ HF_TOKEN: goodToken }));
  });

  test("for a missing or private repository", async () => {
    const unseen = await failure(locateModel("acme/private-GGUF", hubOptions()));
    expect(unseen.code).toBe("model_not_found");
    expect(unseen.message).toContain("needs an HF_TOKEN with access");
    await locateModel("acme/private-GGUF", hubOptions({ HF_TOKEN: goodToken }));
    const missing = await failure(locateModel("acme/none", hubOptions({ HF_TOKEN: goodToken })));
    expect(missing.code).toBe("model_not_found");
    expect(missing.message).toContain("your HF_TOKEN has no access to it");
  });

  test("for an invalid token", async () => {
    hub.intercept = (_request, response) => {
      response.writeHead(401).end();
      return true;
    };
    const error = await failure(searchModels("x", hubOptions({ HF_TOKEN: "hf_old" })));
    expect(error.message).toMatch(/Your HF_TOKEN was not accepted.*settings\/tokens/);
    expect(error.message).not.toContain("hf_old");
  });

  test.each(["<html>Sign in</html>", "[1, 2]", '{"id": 5}', "null", '{"id": "a/b", "sha": "../.."}'])(
    "for a response that is not a hub's: %s",
    async (body) => {
      hub.intercept = (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" }).end(body);
        return true;
      };
      const error = await failure(locateModel("acme/open-GGUF", hubOptions()));
      expect(error.code).toBe("download_failed");
      expect(error.message).toContain("does not respond like a model hub");
    },
  );

  test("for a hub that cannot be reached", async () => {
    const error = await failure(searchModels("x", hubOptions({ HF_ENDPOINT: "http://127.0.0.1:9" })));
    expect(error.code).toBe("download_failed");
    expect(error.message).toMatch(/could not be reached .*ECONNREFUSED/);
  });

  test("for an HF_ENDPOINT or proxy that is not an address", async () => {
    expect((await failure(searchModels("x", hubOptions({ HF_ENDPOINT: "hub" })))).message).toContain(
      "HF_ENDPOINT",
    );
    expect((await failure(searchModels("x", hubOptions({ HTTPS_PROXY: "::" })))).message).toContain(
      "HTTPS_PROXY",
    );
  });
});

describe("offline", () => {
  test.each(["INGLE_OFFLINE", "HF_HUB_OFFLINE"])("%s prevents all requests", async (variable) => {
    const options = hubOptions({ [variable]: "1" });
    const error = await failure(locateModel("acme/open-GGUF:Q8_0", options));
    expect(error.code).toBe("model_not_found");
    expect(error.message).toContain("stay offline");
    expect((await failure(searchModels("x", options))).message).toContain("stay offline");
    expect(hub.requests).toEqual([]);
  });

  test("finds installed models, also without their quantization", async () => {
    const options = hubOptions();
    const file = await fetched("acme/open-GGUF:Q8_0", options);
    hub.requests.length = 0;
    for (const spec of ["acme/open-GGUF:q8_0", "acme/open-GGUF", "acme/open"]) {
      const located = await locateModel(spec, { ...options, isOffline: true });
      expect(located).toEqual({ kind: "file", id: "acme/open-GGUF:Q8_0", path: file, isListed: true });
    }
    expect(hub.requests).toEqual([]);
  });
});

test("paths of a repository that lead out of its folder are not models", async () => {
  hub.add({
    repo: "acme/evil-GGUF",
    files: { "../../evil-Q4_K_M.gguf": gguf, "a\\b-Q8_0.gguf": gguf, "/etc/x.gguf": gguf },
  });
  expect((await failure(locateModel("acme/evil-GGUF", hubOptions()))).code).toBe("model_not_found");
});

describe("a proxy", () => {
  test("carries everything, except what NO_PROXY names", async () => {
    const asked: string[] = [];
    const proxy = createServer((request: IncomingMessage, response) => {
      asked.push(request.url ?? "");
      const { hostname, port, pathname, search } = new URL(request.url ?? "");
      const upstream = connect(Number(port), hostname, () => {
        upstream.write(`${request.method} ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n`);
        upstream.write(`range: ${request.headers.range ?? "bytes=0-"}\r\nconnection: close\r\n\r\n`);
      });
      // The response is forwarded unchanged.
      response.socket?.on("error", () => upstream.destroy());
      if (response.socket !== null) upstream.pipe(response.socket);
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    try {
      const address = proxy.address();
      const port = typeof address === "object" ? address?.port : 0;
      const env = { HTTP_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: "example.invalid" };
      await fetched("acme/open-GGUF", hubOptions(env));
      expect(asked.some((url) => url.startsWith(`${hub.url}/api/models/`))).toBe(true);
      expect(asked.some((url) => url.startsWith(hub.bytesUrl))).toBe(true);
      asked.length = 0;
      await searchModels("open", hubOptions({ ...env, NO_PROXY: "127.0.0.1" }));
      expect(asked).toEqual([]);
    } finally {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, "close");
    }
  });
});
