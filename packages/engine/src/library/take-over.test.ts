// Models of other programs in folders as these make them, with small GGUF files.
import { createHash } from "node:crypto";
import {
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listModels } from "./installed.ts";
import { locateModel } from "./locate.ts";
import { removeModel } from "./remove-model.ts";
import { takeOverModels } from "./take-over.ts";

let user: string;
const env = () => ({
  HOME: user,
  INGLE_HOME: path.join(user, "ingle"),
  OLLAMA_MODELS: path.join(user, "ollama"),
});

beforeEach(async () => void (user = await mkdtemp(path.join(tmpdir(), "ingle-take-"))));
afterEach(() => rm(user, { recursive: true }));

async function write(file: string, content: string | Buffer): Promise<string> {
  const full = path.join(user, file);
  await mkdir(path.dirname(full), { recursive: true });
  await writeFile(full, content);
  return full;
}

const digest = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

/** Writes blobs and a manifest. Returns the blob's path. */
async function ollamaModel(
  name: string,
  content: Buffer,
  others: Readonly<Record<string, Buffer>> = {},
): Promise<string> {
  const layers = [];
  for (const [kind, each] of Object.entries({ model: content, ...others })) {
    await write(`ollama/blobs/sha256-${digest(each)}`, each);
    layers.push({
      mediaType: `application/vnd.ollama.image.${kind}`,
      digest: `sha256:${digest(each)}`,
      size: each.length,
    });
  }
  const config = { mediaType: "application/vnd.docker.container.image.v1+json" };
  await write(`ollama/manifests/${name}`, JSON.stringify({ schemaVersion: 2, config, layers }));
  return path.join(user, `ollama/blobs/sha256-${digest(content)}`);
}

const inode = async (file: string): Promise<number> => (await stat(file)).ino;

describe("taking over Ollama's models", () => {
  it("gives them their names there, without a copy, and with a checked digest", async () => {
    const content = fakeGguf({ seed: 1 });
    const blob = await ollamaModel("registry.ollama.ai/library/qwen3/4b", content, {
      template: Buffer.from("{{ .Prompt }}"),
      license: Buffer.from("a license"),
    });
    const [taken] = await takeOverModels("ollama", { env: env() });
    expect(taken).toMatchObject({ id: "qwen3:4b", outcome: "taken", sizeBytes: content.length });
    expect(await inode(taken?.path ?? "")).toBe(await inode(blob));
    const [model] = await listModels({ env: env() });
    expect(model).toMatchObject({
      id: "qwen3:4b",
      path: taken?.path,
      sha256: digest(content),
      quantization: "Q4_K_M",
      place: "ingle",
    });
    expect(await locateModel("qwen3:4b", { env: env() })).toMatchObject({ kind: "file", isListed: true });
  });

  it.each([
    ["registry.ollama.ai/library/llama3.2/latest", "llama3.2"],
    ["registry.ollama.ai/someone/tiny/latest", "someone/tiny:latest"],
    ["hf.co/acme/tiny-GGUF/Q4_K_M", "acme/tiny-GGUF:Q4_K_M"],
  ])("names %s %s", async (manifest, id) => {
    await ollamaModel(manifest, fakeGguf());
    expect((await takeOverModels("ollama", { env: env() })).map((model) => model.id)).toEqual([id]);
    expect(await locateModel(id, { env: env(), isOffline: true })).toMatchObject({ kind: "file", id });
  });

  it("keeps the file when Ollama removes its own, and Ollama's when it is removed here", async () => {
    const [first, second] = [fakeGguf({ seed: 1 }), fakeGguf({ seed: 2 })];
    const blob = await ollamaModel("registry.ollama.ai/library/a/latest", first);
    const kept = await ollamaModel("registry.ollama.ai/library/b/latest", second);
    const [a] = await takeOverModels("ollama", { env: env() });
    await rm(blob);
    expect(await readFile(a?.path ?? "")).toEqual(first);
    await removeModel("b", { env: env() });
    expect(await readFile(kept)).toEqual(second);
    expect((await listModels({ env: env() })).map(({ id }) => id)).toEqual(["a"]);
  });

  it("takes a projector with its model", async () => {
    const projector = fakeGguf({ architecture: "clip", seed: 3 });
    await ollamaModel("registry.ollama.ai/library/sees/latest", fakeGguf(), { projector });
    await takeOverModels("ollama", { env: env() });
    const [model] = await listModels({ env: env() });
    expect(await readFile(model?.mmproj ?? "")).toEqual(projector);
  });

  it("refuses a damaged file and one that is no model, and takes the others", async () => {
    const blob = await ollamaModel("registry.ollama.ai/library/damaged/latest", fakeGguf({ seed: 1 }));
    const bytes = await readFile(blob);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await writeFile(blob, bytes);
    await ollamaModel("registry.ollama.ai/library/text/latest", Buffer.from("no model"));
    await ollamaModel("registry.ollama.ai/library/whole/latest", fakeGguf({ seed: 2 }));
    const taken = await takeOverModels("ollama", { env: env() });
    expect(taken.map(({ id, outcome, problem }) => [id, outcome, problem])).toEqual([
      ["damaged", "refused", expect.stringContaining("is damaged")],
      ["text", "refused", expect.stringContaining("GGUF")],
      ["whole", "taken", undefined],
    ]);
    expect(await readdir(path.join(user, "ingle/models/imported"))).toEqual(["whole"]);
  });

  it("leaves out what is incomplete, has an adapter, or is no manifest", async () => {
    await rm(await ollamaModel("registry.ollama.ai/library/partial/latest", fakeGguf({ seed: 1 })));
    await ollamaModel("registry.ollama.ai/library/tuned/latest", fakeGguf({ seed: 2 }), {
      adapter: fakeGguf({ seed: 3 }),
    });
    await write("ollama/manifests/registry.ollama.ai/library/other/latest", "{");
    await expect(takeOverModels("ollama", { env: env() })).rejects.toMatchObject({
      code: "model_not_found",
      message: "Ollama has no complete model in its folder.",
    });
  });

  it("changes nothing the second time, and takes one alone if it is named", async () => {
    await ollamaModel("registry.ollama.ai/library/a/latest", fakeGguf({ seed: 1 }));
    await ollamaModel("registry.ollama.ai/library/b/latest", fakeGguf({ seed: 2 }));
    expect((await takeOverModels("ollama", { env: env(), only: "b" })).map(({ id }) => id)).toEqual(["b"]);
    const again = await takeOverModels("ollama", { env: env() });
    expect(again.map(({ id, outcome }) => [id, outcome])).toEqual([
      ["a", "taken"],
      ["b", "already-there"],
    ]);
    await expect(takeOverModels("ollama", { env: env(), only: "c" })).rejects.toThrow(
      "Ollama has no complete model called c. It has a, b.",
    );
  });

  it("reports how much it has read, and stops when it is aborted", async () => {
    await ollamaModel("registry.ollama.ai/library/a/latest", fakeGguf({ dataBytes: 300_000 }));
    const seen: number[] = [];
    await takeOverModels("ollama", {
      env: env(),
      onProgress: ({ phase, bytes, totalBytes }) => {
        expect(phase).toBe("verify");
        seen.push(bytes / totalBytes);
      },
    });
    expect(seen.at(-1)).toBe(1);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(takeOverModels("ollama", { env: env(), signal })).rejects.toThrow("enough");
  });
});

describe.runIf(process.platform === "linux")("taking over models of another disk", () => {
  it("links to them, and leaves them where they are", async () => {
    const memory = await mkdtemp("/dev/shm/ingle-take-");
    try {
      await ollamaModel("registry.ollama.ai/library/far/latest", fakeGguf());
      await cp(path.join(user, "ollama"), memory, { recursive: true });
      const elsewhere = { ...env(), OLLAMA_MODELS: memory };
      const [taken] = await takeOverModels("ollama", { env: elsewhere });
      expect((await lstat(taken?.path ?? "")).isSymbolicLink()).toBe(true);
      expect(await realpath(taken?.path ?? "")).toMatch(/^\/dev\/shm\//);
      expect(await readFile(taken?.path ?? "")).toEqual(fakeGguf());
      await removeModel("far", { env: elsewhere });
      expect(await readdir(path.join(memory, "blobs"))).toHaveLength(1);
    } finally {
      await rm(memory, { recursive: true });
    }
  });
});

describe("taking over LM Studio's models", () => {
  it("makes them Ingle's own under the same id, without a copy", async () => {
    const file = await write(".lmstudio/models/acme/tiny-GGUF/tiny-Q8_0.gguf", fakeGguf());
    const before = (await listModels({ env: env() })).map(({ id, place }) => [id, place]);
    const taken = await takeOverModels("lm-studio", { env: env() });
    expect(taken.map(({ id, outcome }) => [id, outcome])).toEqual([[before[0]?.[0], "taken"]]);
    expect(await inode(taken[0]?.path ?? "")).toBe(await inode(file));
    await rm(file);
    expect((await listModels({ env: env() })).map(({ id, place }) => [id, place])).toEqual([
      [before[0]?.[0], "ingle"],
    ]);
  });

  it("keeps the names of the parts of a split model", async () => {
    for (const part of ["00001", "00002"])
      await write(
        `.lmstudio/models/acme/big-GGUF/big-Q4_K_M-${part}-of-00002.gguf`,
        fakeGguf({ seed: Number(part) }),
      );
    const [taken] = await takeOverModels("lm-studio", { env: env() });
    expect(await readdir(path.dirname(taken?.path ?? ""))).toEqual([
      "big-Q4_K_M-00001-of-00002.gguf",
      "big-Q4_K_M-00002-of-00002.gguf",
    ]);
  });
});
