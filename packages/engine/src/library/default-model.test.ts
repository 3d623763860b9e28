// The default model, by the installed models and the hub's responses.
import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EngineError } from "../base/errors.ts";
import { defaultModel, type DefaultModel, type DefaultModelOptions } from "./default-model.ts";
import { getModel } from "./fetch-model.ts";
import { importModels } from "./import-model.ts";
import { updateManifest } from "./manifest.ts";
import { libraryPaths } from "../base/home.ts";
import { starterModel } from "./npm-model.ts";
import { fakeGguf, type FakeGgufOptions } from "@ingle/fixtures/fake-gguf";
import { FakeHub } from "@ingle/fixtures/fake-hub";

const small = ["2.6B", "1.2B", "700M", "350M"] as const;
const repoName = (size: string): string => `LiquidAI/LFM2-${size}-GGUF`;
/** More than is read from a header. */
const weightsBytes = 400_000;
/** Enough memory for the largest recommended model. */
const plenty = 16e9;

let user: string;
let hub: FakeHub;

beforeEach(async () => {
  user = await mkdtemp(path.join(tmpdir(), "ingle-default-"));
  hub = await FakeHub.start(...small.map((size) => offer(size)));
});

afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(user, { recursive: true });
});

function offer(size: string, gguf: FakeGgufOptions = {}) {
  const q4 = fakeGguf({ dataBytes: weightsBytes, ...gguf });
  return {
    repo: repoName(size),
    files: { [`LFM2-${size}-Q4_K_M.gguf`]: q4, [`LFM2-${size}-F16.gguf`]: fakeGguf() },
  };
}

function testOptions(more: DefaultModelOptions = {}): DefaultModelOptions {
  const env = { HOME: user, INGLE_HOME: path.join(user, "ingle"), HF_ENDPOINT: hub.url };
  return { env, memoryBytes: plenty, ...more };
}

const chosen = async (more?: DefaultModelOptions): Promise<DefaultModel> =>
  await defaultModel(testOptions(more));

/** A model outside Ingle's folder, imported in place. */
async function importFake(name: string, gguf: FakeGgufOptions = {}): Promise<string> {
  const file = path.join(user, `${name}.gguf`);
  await writeFile(file, fakeGguf(gguf));
  await importModels(file, testOptions());
  return file;
}

/** Records uses of the models, the last one last. */
async function use(...ids: string[]): Promise<void> {
  const lastUsed = Object.fromEntries(
    ids.map((id, day) => [id, new Date(Date.UTC(2026, 0, 1 + day)).toISOString()]),
  );
  await updateManifest(libraryPaths(testOptions().env), (manifest) => ({ ...manifest, lastUsed }));
}

async function placeStarter(): Promise<string> {
  const folder = path.join(user, "ingle/models");
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, starterModel.fileName);
  await writeFile(file, fakeGguf());
  await truncate(file, starterModel.sizeBytes);
  return file;
}

describe("the last used model", () => {
  test("is chosen without a request", async () => {
    const file = await importFake("mine");
    await importFake("other");
    await use("other", "mine");
    const located = { kind: "file", id: "mine", path: file, isListed: true };
    expect(await chosen()).toEqual({ reason: "used-last", lost: [], located });
    expect(hub.requests).toEqual([]);
  });

  test("is reported if it is missing, and the one before it is chosen", async () => {
    await importFake("older");
    await rm(await importFake("gone"));
    await writeFile(await importFake("damaged"), Buffer.alloc(fakeGguf().length));
    await use("older", "gone", "damaged");
    expect(await chosen()).toMatchObject({
      reason: "used-last",
      lost: ["damaged", "gone"],
      located: { id: "older" },
    });
  });

  test("is reported if it is missing and there is no other, and a recommended model is chosen", async () => {
    await rm(await importFake("gone"));
    await use("gone");
    expect(await chosen()).toMatchObject({ reason: "recommended", lost: ["gone"] });
  });

  test("is reported if it is missing and no other model is available", async () => {
    await rm(await importFake("gone"));
    await use("gone");
    await expect(chosen({ isOffline: true })).rejects.toThrow(
      /^gone, the last used model, is missing or damaged\. /,
    );
  });

  test("is skipped if it is an embedding model", async () => {
    await importFake("chat");
    await importFake("vectors", { architecture: "bert", poolingType: 2 });
    await use("chat", "vectors");
    expect(await chosen()).toMatchObject({ reason: "used-last", lost: [], located: { id: "chat" } });
  });
});

describe("an unused model", () => {
  test("is chosen if the user added it, the last added first", async () => {
    await importFake("first");
    await new Promise((resolve) => setTimeout(resolve, 2)); // its date has milliseconds
    await importFake("second");
    await importFake("vectors", { poolingType: 1 });
    expect(await chosen()).toMatchObject({ reason: "added-last", located: { id: "second" } });
    expect(hub.requests).toEqual([]);
  });

  test("is not chosen if it is another program's, or a starter model that was not pulled", async () => {
    const studio = path.join(user, ".lmstudio/models/acme/m-GGUF");
    await mkdir(studio, { recursive: true });
    await writeFile(path.join(studio, "m-Q8_0.gguf"), fakeGguf());
    await placeStarter();
    expect((await chosen()).reason).toBe("recommended");
  });
});

describe("without installed models", () => {
  test.each([
    [16e9, "2.6B"],
    [8e9, "2.6B"],
    [4e9, "1.2B"],
    [2e9, "350M"],
  ])(
    "and with %d bytes of memory it is LFM2 %s, of which only the header is read",
    async (memoryBytes, size) => {
      expect(await chosen({ memoryBytes })).toMatchObject({
        reason: "recommended",
        lost: [],
        located: { kind: "hub", id: `${repoName(size)}:Q4_K_M` },
      });
      expect(hub.byteRequests.map(({ url }) => url?.split("?")[0])).toEqual([
        `/${repoName(size)}/LFM2-${size}-Q4_K_M.gguf`,
      ]);
      expect(hub.bytesSent).toBeLessThan(weightsBytes);
    },
  );

  test("a smaller model is chosen if the header of one demands too much memory", async () => {
    hub.add(offer("1.2B", { kvHeads: Array.from({ length: 100 }, () => 8) }));
    expect(await chosen({ memoryBytes: 4e9 })).toMatchObject({
      located: { id: `${repoName("700M")}:Q4_K_M` },
    });
  });

  test("one that a mirror has is chosen if it has only some", async () => {
    await using mirror = await FakeHub.start(offer("700M"));
    const env = { ...testOptions().env, HF_ENDPOINT: mirror.url };
    expect(await chosen({ env })).toMatchObject({ located: { id: `${repoName("700M")}:Q4_K_M` } });
  });
});

describe("the starter model is chosen", () => {
  const starter = { kind: "npm", id: starterModel.id };

  test("after 3 seconds if the hub does not respond", async () => {
    hub.intercept = () => true;
    const begin = performance.now();
    const starterReason = { why: "silent", repo: repoName("2.6B"), afterMs: 3000 };
    expect(await chosen()).toMatchObject({ reason: "starter", starterReason, located: starter });
    const elapsed = performance.now() - begin;
    expect(elapsed).toBeGreaterThan(2900);
    expect(elapsed).toBeLessThan(3900);
  });

  test("if the hub describes the model, but does not send its bytes", async () => {
    hub.interceptBytes = () => true;
    expect(await chosen({ hubResponseMaxMs: 1500 })).toMatchObject({
      starterReason: { why: "silent" },
      located: starter,
    });
    expect(hub.byteRequests.length).toBe(1);
  });

  test("at once if the hub cannot be reached", async () => {
    await using closed = await FakeHub.start();
    const env = { ...testOptions().env, HF_ENDPOINT: closed.url };
    await closed[Symbol.asyncDispose]();
    const never = (): Promise<void> => Promise.reject(new Error("It must not wait."));
    expect(await chosen({ env, wait: never })).toMatchObject({
      starterReason: {
        why: "unreachable",
        repo: repoName("2.6B"),
        error: { details: { reason: "ECONNREFUSED" } },
      },
      located: starter,
    });
  });

  test("if the hub refuses, or has none of the recommended models", async () => {
    hub.intercept = (_, response) => {
      response.writeHead(403).end();
      return true;
    };
    const refused = await chosen();
    expect(refused).toMatchObject({
      starterReason: { why: "refused", repo: repoName("2.6B") },
      located: starter,
    });
    expect(hub.requests.length).toBe(1);
    await using empty = await FakeHub.start();
    const env = { ...testOptions().env, HF_ENDPOINT: empty.url };
    const none = await chosen({ env });
    expect(none).toMatchObject({
      starterReason: { why: "refused", repo: repoName("350M") },
      located: starter,
    });
    expect(empty.requests.length).toBeGreaterThanOrEqual(small.length);
  });

  test("without a request to the hub if memory is too small for the others", async () => {
    expect(await chosen({ memoryBytes: 1e9 })).toMatchObject({ starterReason: { why: "memory" } });
    expect(hub.requests).toEqual([]);
  });

  test("offline if it is installed; otherwise the error says what to do", async () => {
    const error: unknown = await chosen({ isOffline: true }).catch((reason: unknown) => reason);
    if (!EngineError.is(error)) throw error;
    expect(error.code).toBe("model_not_found");
    expect(error.message).toContain("Name one with --model");
    const file = await placeStarter();
    expect(await chosen({ isOffline: true })).toMatchObject({
      starterReason: { why: "offline", repo: repoName("2.6B") },
      located: { kind: "file", path: file },
    });
    expect(hub.requests).toEqual([]);
  });
});

test("getModel() returns the default model's file without a name, and the file of a name", async () => {
  const file = await importFake("mine");
  const other = await importFake("other");
  await use("mine");
  expect(await getModel(undefined, testOptions())).toBe(file);
  expect(await getModel("other", testOptions())).toBe(other);
  const fetched = await getModel(repoName("350M"), testOptions());
  expect(fetched).toBe(path.join(user, "ingle/models", repoName("350M"), "LFM2-350M-Q4_K_M.gguf"));
});

test("an abort during a request to the hub rejects at once", async () => {
  hub.intercept = () => true;
  const reason = new Error("enough");
  const begin = performance.now();
  const choosing = chosen({ signal: AbortSignal.abort(reason) });
  await expect(choosing).rejects.toBe(reason);
  const abort = new AbortController();
  const later = chosen({ signal: abort.signal });
  while (hub.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  abort.abort(reason);
  await expect(later).rejects.toBe(reason);
  expect(performance.now() - begin).toBeLessThan(2500);
});

test("wrong settings of the hub are an error", async () => {
  const env = { ...testOptions().env, HF_ENDPOINT: "no address" };
  await expect(chosen({ env })).rejects.toMatchObject({ code: "invalid_request" });
});
