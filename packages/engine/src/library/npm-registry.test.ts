// The effect of the user's npm settings on requests, and the errors for refused requests.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EngineError } from "../base/errors.ts";
import { NpmRegistry, type TarballAddress } from "./npm-registry.ts";
import { loadNpmSettings } from "./npm-settings.ts";
import { TemporaryFailure } from "./retry.ts";
import { fakePackage, FakeRegistry } from "../../test/harness/fake-registry.ts";

const scoped = await fakePackage("@fake/model", Buffer.from("scoped"));
const plain = await fakePackage("fake-model", Buffer.from("plain"));
/** Nothing listens there. */
const nowhere = "http://127.0.0.1:9/";

let folder: string;
let registry: FakeRegistry;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-npm-"));
  await mkdir(path.join(folder, "project"));
  await writeFile(path.join(folder, "project", "package.json"), "{}");
  registry = await FakeRegistry.start(scoped, plain);
});

afterEach(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function writeNpmrc(where: "user" | "project", ...lines: string[]): Promise<void> {
  await writeFile(path.join(folder, where === "user" ? "" : "project", ".npmrc"), lines.join("\n"));
}

function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const globalconfig = path.join(folder, "none");
  return { HOME: folder, npm_config_globalconfig: globalconfig, npm_config_noproxy: "127.0.0.1", ...more };
}

async function resolve(name = "fake-model", env = environment(), version = "1.0.0"): Promise<TarballAddress> {
  const opened = await NpmRegistry.open(env, path.join(folder, "project"));
  return await opened.resolve(name, version);
}

async function failure(name?: string, env?: NodeJS.ProcessEnv, version?: string): Promise<EngineError> {
  try {
    await resolve(name, env, version);
  } catch (error) {
    const final = error instanceof TemporaryFailure ? error.final : error;
    if (EngineError.is(final)) return final;
    throw error;
  }
  return expect.fail("the registry should have failed");
}

function respondToAll(status: number, body = "{}"): void {
  registry.intercept = (_request, response) => {
    response.writeHead(status).end(body);
    return true;
  };
}

test("the user's registry and token are used, for the package and for its tarball", async () => {
  const { host } = new URL(registry.url);
  await writeNpmrc("user", `registry=${registry.url}`, `//${host}/:_authToken=\${SECRET}`);
  const opened = await NpmRegistry.open(environment({ SECRET: "s3cret" }), folder);
  const { url, integrity } = await opened.resolve("fake-model", "1.0.0");
  expect(integrity).toBe(plain.part.integrity);
  using stream = await opened.openTarball(url, "fake-model", { offset: 0 });
  for await (const chunk of stream.body) expect(chunk.length).toBeGreaterThan(0);
  expect(registry.requests.map((request) => request.headers.authorization)).toEqual([
    "Bearer s3cret",
    "Bearer s3cret",
  ]);
});

test("project settings override the user's, and the environment overrides both", async () => {
  await writeNpmrc("user", `registry=${nowhere}`);
  await writeNpmrc("project", `registry=${registry.url}`);
  await resolve();
  await writeNpmrc("project", `registry=${nowhere}`);
  await resolve("fake-model", environment({ npm_config_registry: registry.url }));
  expect(registry.requests.length).toBe(2);
});

test("a scope's own registry is used only for its packages", async () => {
  await writeNpmrc("user", `registry=${nowhere}`, `@fake:registry=${registry.url}`);
  await resolve("@fake/model");
  expect(registry.requests[0]?.url).toBe("/@fake%2fmodel");
  expect((await failure("fake-model")).details["registry"]).toBe(nowhere);
});

test("requests go through the proxy of the npm settings", async () => {
  const elsewhere = "http://registry.invalid/";
  await writeNpmrc("user", `registry=${elsewhere}`, `proxy=${registry.url}`);
  respondToAll(404);
  await failure();
  expect(registry.requests[0]?.url).toBe(`${elsewhere}fake-model`);
});

test("a mirror serves the tarballs that it lists under the public registry's address", async () => {
  const { publicHost } = await loadNpmSettings(environment(), folder);
  const dist = { tarball: `https://${publicHost}/fake-model/-/fake.tgz` };
  respondToAll(200, JSON.stringify({ versions: { "1.0.0": { dist } } }));
  const mirror = `${registry.url}npm/`;
  const { url } = await resolve("fake-model", environment({ npm_config_registry: mirror }));
  expect(url).toBe(`${mirror}fake-model/-/fake.tgz`);
  const keep = { npm_config_registry: mirror, npm_config_replace_registry_host: "never" };
  expect((await resolve("fake-model", environment(keep))).url).toBe(dist.tarball);
});

test("reading the settings prints nothing and does not change the environment", async () => {
  await writeNpmrc("user", "no-such-setting=1", "strict-ssl=maybe", `registry=${registry.url}`);
  const env = environment();
  const before = { ...env };
  const written = vi.spyOn(process.stderr, "write");
  await resolve("fake-model", env);
  expect(written).not.toHaveBeenCalled();
  expect(env).toEqual(before);
  written.mockRestore();
});

test("an unreachable registry is named, with advice", async () => {
  const error = await failure(
    "fake-model",
    environment({ npm_config_registry: `http://me:secret@127.0.0.1:9/` }),
  );
  expect(error.code).toBe("download_failed");
  expect(error.message).toContain(nowhere);
  expect(error.message).toContain("npm config get registry");
  expect(error.message).not.toContain("secret");
});

test.each([401, 403])("a %d gives the advice to check the token", async (status) => {
  respondToAll(status);
  const error = await failure("fake-model", environment({ npm_config_registry: registry.url }));
  expect(error.code).toBe("download_failed");
  expect(error.details["status"]).toBe(status);
  expect(error.message).toContain(".npmrc");
});

test("an unknown package and an unknown version are model_not_found", async () => {
  const env = environment({ npm_config_registry: registry.url });
  expect((await failure("no-such-model", env)).code).toBe("model_not_found");
  expect((await failure("fake-model", env, "9.9.9")).code).toBe("model_not_found");
});

test.each(["<html>Sign in</html>", "[]", '{"versions":{"1.0.0":{"dist":{"tarball":"here"}}}}'])(
  "a response that is no package document is download_failed: %s",
  async (body) => {
    respondToAll(200, body);
    const error = await failure("fake-model", environment({ npm_config_registry: registry.url }));
    expect(error.code).toBe("download_failed");
    expect(error.message).toContain("does not respond like an npm registry");
  },
);

test("a registry setting that is not an address is invalid_request", async () => {
  const error = await failure("fake-model", environment({ npm_config_registry: "my-mirror" }));
  expect(error.code).toBe("invalid_request");
  expect(error.message).toContain("my-mirror");
});

test("npm's offline setting is obeyed", async () => {
  const error = await failure("fake-model", environment({ npm_config_offline: "true" }));
  expect(error.code).toBe("download_failed");
  expect(registry.requests).toEqual([]);
});

test("leaving a tarball in the middle ends the request", async () => {
  const opened = await NpmRegistry.open(environment({ npm_config_registry: registry.url }), folder);
  const { url } = await opened.resolve("fake-model", "1.0.0");
  const ended = new Promise<void>((done) => {
    registry.intercept = (_request, response) => {
      response.on("close", done);
      response.writeHead(200).write("some");
      return true;
    };
  });
  {
    using stream = await opened.openTarball(url, "fake-model", { offset: 0 });
    for await (const _chunk of stream.body) break;
  }
  await expect(ended).resolves.toBeUndefined();
});
