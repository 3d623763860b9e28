// Downloads from a hub that breaks in every way a network can. After each, every file is complete under its name or missing,
// and the next call continues.
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fetchModel } from "../fetch-model.ts";
import type { FetchOptions } from "../library-options.ts";
import { listModels } from "../installed.ts";
import { locateModel } from "../locate.ts";
import type { LibraryProgress } from "../progress.ts";
import { pause } from "../retry.ts";
import { FakeHub, goodToken, sha256Hex, type FakeRepository } from "@ingle/fixtures/fake-hub";
import type { HubSourceOptions } from "./download-files.ts";
import { failure } from "../../../test/harness/failure.ts";

const large: FakeRepository = {
  repo: "acme/large-GGUF",
  files: { "large-Q4_K_M.gguf": randomBytes(300_000) },
};
const small: FakeRepository = { repo: "acme/small-GGUF", files: { "small-Q8_0.gguf": randomBytes(700) } };
const split: FakeRepository = {
  repo: "acme/split-GGUF",
  files: {
    "Q4_K_M/split-00001-of-00002.gguf": randomBytes(3000),
    "Q4_K_M/split-00002-of-00002.gguf": randomBytes(2000),
    "mmproj-F16.gguf": randomBytes(1000),
    "README.md": Buffer.from("words"),
  },
};

let home: string;
let hub: FakeHub;
let waits: number[];

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-hub-"));
  hub = await FakeHub.start(large, small, split);
  waits = [];
});

afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

/** Pieces of 64 KiB, and short, recorded sleeps. */
function sourceOptions(more: Partial<HubSourceOptions> = {}): FetchOptions & HubSourceOptions {
  return {
    env: { HOME: home, INGLE_HOME: home, HF_ENDPOINT: hub.url },
    wait: async (ms, { signal }) => {
      waits.push(ms);
      await pause(Math.min(ms, 5), { signal });
    },
    memoryBytes: 8e9,
    pieceBytes: 64 * 1024,
    ...more,
  };
}

async function download(spec = "acme/large-GGUF", more: Partial<HubSourceOptions> = {}): Promise<string> {
  const options = sourceOptions(more);
  return await fetchModel(await locateModel(spec, options), options);
}

async function expectWhole(file: string, { repo, files }: FakeRepository = large): Promise<void> {
  const [name = "", bytes = Buffer.alloc(0)] = Object.entries(files)[0] ?? [];
  expect(file).toBe(path.join(home, "models", repo, name));
  expect((await readFile(file)).equals(bytes)).toBe(true);
  expect(await readdir(path.join(home, "downloads"))).toEqual([]);
}

/** The name of the unfinished file. */
function partPath({ repo, files }: FakeRepository = large): string {
  const checksum = sha256Hex(Object.values(files)[0] ?? Buffer.alloc(0)).slice(0, 16);
  return path.join(home, "downloads", `${repo.replace("/", "+")}+${checksum}.part`);
}

function ranges(): (string | undefined)[] {
  return hub.byteRequests.map((request) => request.headers.range);
}

describe("a download", () => {
  test("downloads ranges in parallel, checks the whole and leaves nothing else behind", async () => {
    await expectWhole(await download());
    expect(ranges().length).toBe(5);
    expect(ranges()).toContain("bytes=65536-131071");
    const [model] = await listModels(sourceOptions());
    expect(model).toMatchObject({ id: "acme/large-GGUF:Q4_K_M", quantization: "Q4_K_M", sizeBytes: 300_000 });
  });

  test("makes no request if the model is there", async () => {
    await download();
    hub.requests.length = 0;
    await expectWhole(await download());
    expect(hub.requests).toEqual([]);
  });

  test("includes all parts of a split model and its projector", async () => {
    hub.pageEntries = 1;
    await expectWhole(await download("acme/split-GGUF:q4_k_m"), split);
    const [model] = await listModels(sourceOptions());
    const folder = path.join(home, "models", "acme/split-GGUF");
    expect(model?.files).toEqual([
      path.join(folder, "Q4_K_M/split-00001-of-00002.gguf"),
      path.join(folder, "Q4_K_M/split-00002-of-00002.gguf"),
      path.join(folder, "mmproj-F16.gguf"),
    ]);
    expect(model?.mmproj).toBe(path.join(folder, "mmproj-F16.gguf"));
    for (const file of model?.files ?? []) {
      const name = path.relative(folder, file).replaceAll("\\", "/");
      expect((await readFile(file)).equals(split.files[name] ?? Buffer.alloc(0)), name).toBe(true);
    }
  });

  test("reports growing bytes of each phase up to the total", async () => {
    const seen: LibraryProgress[] = [];
    await download("acme/large-GGUF", { onProgress: (progress) => seen.push(progress) });
    for (const phase of ["download", "verify"] as const) {
      const bytes = seen.filter((progress) => progress.phase === phase).map((progress) => progress.bytes);
      expect(bytes).toEqual(bytes.toSorted((a, b) => a - b));
      expect(bytes.at(-1)).toBe(300_000);
    }
    expect(seen.length).toBeLessThan(20);
  });

  test("sends the token only to the hub", async () => {
    const env = { HOME: home, INGLE_HOME: home, HF_ENDPOINT: hub.url, HF_TOKEN: goodToken };
    await download("acme/large-GGUF", { env });
    expect(hub.requests.map((request) => request.headers.authorization)).toEqual(
      hub.requests.map(() => `Bearer ${goodToken}`),
    );
    expect(hub.byteRequests.map((request) => request.headers.authorization)).toEqual(
      hub.byteRequests.map(() => undefined),
    );
  });

  test("downloads a file again that has changed at a newer commit", async () => {
    const old = { ...small, files: { "small-Q8_0.gguf": randomBytes(700) } };
    hub.add(old);
    const options = sourceOptions();
    await fetchModel(await locateModel("acme/small-GGUF", options), options);
    hub.add(small);
    await rm(path.join(home, "models/acme/small-GGUF/small-Q8_0.gguf"));
    await expectWhole(await download("acme/small-GGUF"), small);
  });
});

describe("a broken connection", () => {
  test("at any byte is continued at that byte", async () => {
    const bytes = small.files["small-Q8_0.gguf"]?.length ?? 0;
    for (let cut = 1; cut < bytes; cut += 13) {
      hub.byteRequests.length = 0;
      hub.cutAfterBytes = cut;
      hub.cutsLeft = 1;
      await expectWhole(await download("acme/small-GGUF"), small);
      expect(ranges()).toEqual([`bytes=0-${bytes - 1}`, `bytes=${cut}-${bytes - 1}`]);
      await rm(path.join(home, "models"), { recursive: true });
      await rm(path.join(home, "library.json"));
    }
  });

  test("may break any number of times while bytes arrive", async () => {
    hub.cutAfterBytes = 10_000;
    await expectWhole(await download());
    expect(hub.byteRequests.length).toBeGreaterThan(25);
  });

  test("uses one connection if the host does not support ranges", async () => {
    hub.hasRanges = false;
    await expectWhole(await download());
    hub.cutAfterBytes = 2000;
    hub.cutsLeft = 2;
    await rm(path.join(home, "models"), { recursive: true });
    await expectWhole(await download());
  });

  test("ends with an error if the host never gets further, and keeps nothing under the name", async () => {
    hub.hasRanges = false;
    hub.cutAfterBytes = 70_000;
    const error = await failure(download());
    expect(error.code).toBe("download_failed");
    expect(error.message).toContain("ECONNRESET");
    expect(await readdir(path.join(home, "models"))).toEqual([]);
  });

  test("requests a new address if its address expires", async () => {
    hub.addressUses = 2;
    await expectWhole(await download());
    const resolved = hub.requests.filter((request) => request.url?.includes("/resolve/") === true);
    expect(resolved.length).toBeGreaterThan(2);
  });
});

describe("a busy hub", () => {
  test("is retried after a 500 of the API or of the host of the bytes", async () => {
    let responses = 0;
    const everySecond = (
      _request: unknown,
      response: { writeHead: (status: number) => { end: () => void } },
    ): boolean => {
      responses += 1;
      if (responses % 2 === 0) return false;
      response.writeHead(500).end();
      return true;
    };
    hub.intercept = everySecond;
    hub.interceptBytes = everySecond;
    await expectWhole(await download());
    expect(waits.length).toBeGreaterThan(3);
  });

  test("is not retried before Retry-After", async () => {
    hub.interceptBytes = (_request, response) => {
      if (waits.length > 0) return false;
      response.writeHead(429, { "retry-after": "7" }).end();
      return true;
    };
    await expectWhole(await download("acme/small-GGUF"), small);
    expect(waits).toEqual([7000]);
  });

  test("is given up after a few responses, with a clear error", async () => {
    hub.intercept = (_request, response) => {
      response.writeHead(503).end();
      return true;
    };
    const error = await failure(download());
    expect(error.code).toBe("download_failed");
    expect(error.details["status"]).toBe(503);
    expect(hub.requests.length).toBe(4);
  });

  test("may be slow", async () => {
    hub.slowly = { bytes: 8192, delayMs: 1 };
    await expectWhole(await download());
  });
});

describe("an unfinished download", () => {
  test("is continued after a kill, whose lock is taken over, and only missing bytes are requested", async () => {
    hub.interceptBytes = (request, response) => {
      if (request.headers.range?.startsWith("bytes=0-") === true) return false;
      response.writeHead(404).end();
      return true;
    };
    hub.addressUses = Number.POSITIVE_INFINITY;
    await failure(download("acme/large-GGUF", { connections: 1 }));
    hub.interceptBytes = () => false;
    const lock = path.join(home, "downloads", "acme+large-GGUF.lock");
    await mkdir(lock);
    const aMinuteAgo = Date.now() / 1000 - 60;
    await utimes(lock, aMinuteAgo, aMinuteAgo);
    hub.byteRequests.length = 0;
    await expectWhole(await download());
    expect(ranges()).not.toContain("bytes=0-65535");
    expect(ranges()[0]).toMatch(/^bytes=65536-/);
  });

  test("stays after an abort and is continued", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    hub.slowly = { bytes: 8192, delayMs: 5 };
    const onProgress = ({ bytes }: LibraryProgress): void => {
      if (bytes > 50_000) controller.abort(reason);
    };
    const aborted = download("acme/large-GGUF", { onProgress, signal: controller.signal });
    await expect(aborted).rejects.toBe(reason);
    expect((await readdir(path.join(home, "downloads"))).toSorted()).toEqual([
      path.basename(partPath()),
      `${path.basename(partPath())}.log`,
    ]);
    hub.slowly = { bytes: 0, delayMs: 0 };
    hub.bytesSent = 0;
    await expectWhole(await download());
    expect(hub.bytesSent).toBeLessThanOrEqual(250_000);
  });

  test("is downloaded again if the disk corrupted it", async () => {
    await mkdir(path.join(home, "downloads"));
    await writeFile(partPath(), Buffer.alloc(300_000));
    const { files } = large;
    const sha256 = sha256Hex(files["large-Q4_K_M.gguf"] ?? Buffer.alloc(0));
    await writeFile(`${partPath()}.log`, `ingle-part 1 300000 ${sha256}\n0 200000\n`);
    await expectWhole(await download());
    expect(hub.bytesSent).toBe(100_000 + 300_000);
  });

  test.each([
    ["of other bytes", "ingle-part 1 300000 0000\n0 300000\n"],
    ["that is no log", "\0\0\0\0"],
    ["whose last line was torn", "LOG\n0 655"],
    ["with lines that lie outside", "LOG\n0 99999999\n5 1\n-1 7\n"],
  ])("is not trusted if it has a log %s", async (_, text) => {
    await mkdir(path.join(home, "downloads"));
    await writeFile(partPath(), Buffer.alloc(300_000));
    const sha256 = sha256Hex(large.files["large-Q4_K_M.gguf"] ?? Buffer.alloc(0));
    await writeFile(`${partPath()}.log`, text.replace("LOG", `ingle-part 1 300000 ${sha256}`));
    await expectWhole(await download());
    expect(hub.bytesSent).toBe(300_000);
  });
});

describe("wrong bytes", () => {
  test("are not kept", async () => {
    hub.isLying = true;
    const error = await failure(download());
    expect(error.code).toBe("integrity_failed");
    expect(await readdir(path.join(home, "models"))).toEqual([]);
    expect(await readdir(path.join(home, "downloads"))).toEqual([]);
  });

  test("are not requested if the hub gives no checksum, or two different ones", async () => {
    hub.announcedSha256 = "none";
    expect((await failure(download())).code).toBe("download_failed");
    let head = 0;
    hub.announcedSha256 = undefined;
    hub.intercept = (request) => {
      if (request.method === "HEAD") head += 1;
      hub.announcedSha256 = request.method === "HEAD" ? "0".repeat(64) : undefined;
      return false;
    };
    expect((await failure(download())).code).toBe("integrity_failed");
    expect(head).toBe(1);
    expect(hub.byteRequests).toEqual([]);
  });

  test("are not read if the host's file has another size", async () => {
    hub.interceptBytes = (_request, response) => {
      response.writeHead(206, { "content-range": "bytes 0-0/5" }).end("x");
      return true;
    };
    const error = await failure(download());
    expect(error.code).toBe("integrity_failed");
    expect(error.message).toContain("5 bytes");
  });
});

describe("two downloads of the same model", () => {
  test("download it once, and the second reports that it waits", async () => {
    const phases = new Set<string>();
    const options = sourceOptions({ onProgress: ({ phase }) => phases.add(phase) });
    const located = await locateModel("acme/large-GGUF", options);
    const files = await Promise.all([fetchModel(located, options), fetchModel(located, options)]);
    for (const file of files) await expectWhole(file);
    expect(hub.bytesSent).toBe(300_000);
    expect(phases).toContain("waiting");
  });

  test("do not stop if the waiting one is aborted", async () => {
    const controller = new AbortController();
    hub.slowly = { bytes: 2048, delayMs: 5 };
    const options = sourceOptions();
    const located = await locateModel("acme/large-GGUF", options);
    const first = fetchModel(located, options);
    await expect.poll(() => hub.bytesSent, { interval: 1 }).toBeGreaterThan(0);
    const onProgress = (): void => controller.abort("bored");
    const second = fetchModel(located, { ...options, signal: controller.signal, onProgress });
    await expect(second).rejects.toBe("bored");
    await expectWhole(await first);
  });
});

test("a full disk is reported before anything is downloaded, with the numbers", async () => {
  const error = await failure(download("acme/large-GGUF", { freeBytes: async () => 1_000_000 }));
  expect(error.code).toBe("disk_full");
  expect(error.details["freeBytes"]).toBe(1_000_000);
  expect(hub.byteRequests).toEqual([]);
});
