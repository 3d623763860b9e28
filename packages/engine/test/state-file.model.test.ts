// `cacheDir`: the state of conversations survives a restart, and a changed file is not trusted.
import { copyFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildInfo, type GenerationResult, type LoadedModel, type LoadOptions } from "@ingle/engine";
import { exactArithmetic } from "@ingle/fixtures";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loadTiny } from "./tiny.ts";

const options: LoadOptions = { contextLength: 1024, cells: 1024, parallel: 2 };
const turnEnd = "</s>";
const opening = `${"The river is quiet tonight, and nobody asks why. ".repeat(20)}${turnEnd}What of the river?${turnEnd}`;

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-state-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function ask({ model }: LoadedModel, prompt: string, extra: object = {}): Promise<GenerationResult> {
  return await model.generate({ prompt, temperature: 0, maxTokens: 16, ...extra });
}

/** A process that generates one reply and exits. */
async function live(
  fixture: Parameters<typeof loadTiny>[1],
  extra: LoadOptions = exactArithmetic,
): Promise<GenerationResult> {
  await using loaded = await loadTiny({ ...options, cacheDir: folder, ...extra }, fixture);
  return await ask(loaded, opening);
}

async function stateFile(): Promise<string> {
  const names = await readdir(folder);
  expect(names).toHaveLength(1);
  return path.join(folder, names[0] ?? "");
}

it("depends on the sources of the engine that computed it", async () => {
  const { llamaCpp } = await buildInfo();
  expect(llamaCpp.sources).toMatch(/^[0-9a-f]{64}$/u);
});

const kinds: { name: string; fixture: Parameters<typeof loadTiny>[1]; extra: LoadOptions }[] = [
  { name: "a llama", fixture: { weights: "f32" }, extra: exactArithmetic },
  { name: "an lfm2", fixture: { architecture: "lfm2" }, extra: exactArithmetic },
  ...([8, 4, 3] as const).flatMap((kvBits) => [
    { name: `a llama of ${kvBits} bits`, fixture: { weights: "f32" as const }, extra: inBits(kvBits) },
    { name: `an lfm2 of ${kvBits} bits`, fixture: { architecture: "lfm2" as const }, extra: inBits(kvBits) },
  ]),
];

/** Only flash attention can read values of fewer bits. */
function inBits(kvBits: 8 | 4 | 3): LoadOptions {
  return { kvBits, flashAttention: "on" };
}

describe.each(kinds)("kept state, $name", ({ fixture, extra }) => {
  it("is restored after a restart, and changes no text", async () => {
    await using uncached = await loadTiny({ ...options, ...extra }, fixture);
    const truth = await ask(uncached, opening, { cachePrompt: false });
    const first = await live(fixture, extra);
    const second = await live(fixture, extra);
    const third = await live(fixture, extra);
    expect([first.text, second.text, third.text]).toEqual([truth.text, truth.text, truth.text]);
    expect(first.usage.cachedTokens).toBe(0);
    expect(second.usage.cachedTokens).toBeGreaterThan(second.usage.promptTokens * 0.8);
    expect(third.usage.cachedTokens).toBeGreaterThanOrEqual(second.usage.cachedTokens);
  });
});

describe("kept state", () => {
  it("is readable only by its owner", async () => {
    await live({});
    expect((await stat(await stateFile())).mode & 0o777).toBe(0o600);
  });

  it("is not used with another model or another KV cache type", async () => {
    await live({ seed: 1 });
    expect((await live({ seed: 2 })).usage.cachedTokens).toBe(0);
    expect((await live({ seed: 1 }, { kvBitsK: 8, flashAttention: "off" })).usage.cachedTokens).toBe(0);
    expect(await readdir(folder)).toHaveLength(3);
  });

  it("is ignored from the first damaged or missing byte on, and the text is the same", async () => {
    const truth = (await live({})).text;
    const file = await stateFile();
    const whole = await readFile(file);
    for (let part = 0; part < 12; part += 1) {
      await writeFile(file, whole);
      await truncate(file, Math.floor((whole.length * part) / 12));
      expect((await live({})).text).toBe(truth);
    }
    for (let part = 0; part < 24; part += 1) {
      const damaged = Buffer.from(whole);
      const at = Math.floor((whole.length * part) / 24);
      damaged[at] = (damaged[at] ?? 0) ^ 0x41;
      await writeFile(file, damaged);
      expect((await live({})).text).toBe(truth);
    }
  });

  it("is not used with another secret", async () => {
    await live({});
    expect((await live({})).usage.cachedTokens).toBeGreaterThan(0);
    const file = await stateFile();
    vi.stubEnv("INGLE_STATE_KEY", "the secret of another user of this folder");
    try {
      expect((await live({})).usage.cachedTokens).toBe(0);
      // Under the right name, too.
      const names = await readdir(folder);
      const other = names.find((name) => name !== path.basename(file)) ?? "";
      await copyFile(file, path.join(folder, other));
      expect((await live({})).usage.cachedTokens).toBe(0);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("requires a host KV tier", async () => {
    await expect(loadTiny({ ...options, cacheDir: folder, cacheRamMiB: 0 })).rejects.toMatchObject({
      code: "invalid_request",
      details: { param: "cacheDir" },
    });
  });
});
