import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testWorld } from "../../../test/cli-context.ts";
import { main } from "../main.ts";

let user: string;
beforeEach(async () => void (user = await mkdtemp(path.join(tmpdir(), "ingle-take-over-"))));
afterEach(() => rm(user, { recursive: true }));

async function run(...args: string[]) {
  const env = { HOME: user, INGLE_HOME: path.join(user, "ingle"), OLLAMA_MODELS: path.join(user, "ollama") };
  const { context, out, err } = testWorld({ env });
  return { code: await main("ingle", ["import", ...args], context), out: out(), err: err() };
}

async function ollamaModel(name: string, content: Buffer, digest?: string): Promise<void> {
  const sha256 = digest ?? createHash("sha256").update(content).digest("hex");
  const layer = {
    mediaType: "application/vnd.ollama.image.model",
    digest: `sha256:${sha256}`,
    size: content.length,
  };
  const manifest = path.join(user, "ollama/manifests/registry.ollama.ai/library", name);
  await mkdir(manifest, { recursive: true });
  await writeFile(path.join(manifest, "latest"), JSON.stringify({ layers: [layer] }));
  await mkdir(path.join(user, "ollama/blobs"), { recursive: true });
  await writeFile(path.join(user, `ollama/blobs/sha256-${sha256}`), content);
}

describe("ingle import --from", () => {
  it("prints what it has taken, and says if it was there already", async () => {
    await ollamaModel("tiny", fakeGguf());
    const file = path.join(user, "ingle/models/imported/tiny/tiny.gguf");
    const { code, out, err } = await run("--from", "ollama");
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`tiny  ${file} (`) });
    expect(err).toContain("Verifying the models of ollama");
    expect((await run("tiny", "--from", "ollama")).out).toContain(", already there)\n");
  });

  it("says which models were left out and why, and fails then", async () => {
    await ollamaModel("tiny", fakeGguf());
    await ollamaModel("damaged", fakeGguf({ seed: 2 }), "0".repeat(64));
    const { code, out, err } = await run("--from", "ollama");
    expect([code, out]).toEqual([1, expect.stringMatching(/^tiny /)]);
    expect(err).toMatch(/^damaged was left out: .*sha256-0{64} is damaged/m);
  });

  it.each([
    [["--from", "ollama"], 1, "Ollama has no complete model"],
    [["--from", "other"], 2, "Allowed choices are ollama, lm-studio"],
    [["--from", "ollama", "--copy"], 2, "--copy cannot be combined with --from"],
    [[], 2, "--from ollama"],
  ])("explains %j", async (args, code, words) => {
    expect(await run(...args)).toMatchObject({ code, err: expect.stringContaining(words) });
  });
});
