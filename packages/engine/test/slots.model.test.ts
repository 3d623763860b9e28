// Slots: the state of a text is saved to a file, restored into the prefix cache and erased there, and changes no text.
import { copyFile, mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { load, type GenerationResult, type LoadedModel, type LoadOptions } from "@ingle/engine";
import { exactArithmetic, tinyVisionModel } from "@ingle/fixtures";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { anImage, loadTiny } from "./tiny.ts";

const options: LoadOptions = { contextLength: 2048, cells: 2048, parallel: 2 };
/** About 1,100 tokens: more than two segments. */
const prompt = `${"The river is quiet tonight, and nobody asks why. ".repeat(95)}</s>What of the river?</s>`;
const file = "river.bin";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-slots-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function ask({ model }: LoadedModel, extra: object = {}): Promise<GenerationResult> {
  return await model.generate({ prompt, temperature: 0, maxTokens: 16, ...extra });
}

type Fixture = Parameters<typeof loadTiny>[1];

async function withSlots(
  extra: LoadOptions = {},
  fixture: Fixture = { weights: "f32" },
): Promise<LoadedModel> {
  return await loadTiny({ ...options, ...exactArithmetic, slotDir: folder, ...extra }, fixture);
}

/** The file with this name in the folder of a salt. */
async function findSaved(name: string): Promise<string> {
  const files = await readdir(folder, { recursive: true });
  return path.join(folder, files.find((each) => path.basename(each) === name && each !== name) ?? "");
}

function refused(param?: string): object {
  return { code: "invalid_request", ...(param === undefined ? {} : { details: { param } }) };
}

describe.each<{ name: string; fixture: Fixture; engine: "in-process" | "process" }>([
  { name: "a llama", fixture: { weights: "f32" }, engine: "in-process" },
  { name: "an lfm2", fixture: { architecture: "lfm2" }, engine: "in-process" },
  { name: "a llama in a process of its own", fixture: { weights: "f32" }, engine: "process" },
])("a slot, $name", ({ fixture, engine }) => {
  it("is saved, and restored in another engine, which computes the text no more", async () => {
    const first = await withSlots({ engine }, fixture);
    const truth = await ask(first, { cachePrompt: false });
    const reply = await ask(first, { idSlot: 1 });
    const { tokens, bytes } = await first.model.slots.save(1, file);
    await first[Symbol.asyncDispose]();
    expect(tokens).toBeGreaterThanOrEqual(reply.usage.promptTokens);
    expect(tokens).toBeLessThanOrEqual(reply.usage.promptTokens + 16);
    expect(bytes).toBe((await stat(path.join(folder, file))).size);
    expect((await stat(path.join(folder, file))).mode & 0o777).toBe(0o600);

    await using second = await withSlots({ engine }, fixture);
    expect(await second.model.slots.restore(0, file)).toEqual({ tokens, bytes });
    const again = await ask(second);
    expect(again.text).toBe(truth.text);
    expect(again.usage.cachedTokens).toBeGreaterThan(again.usage.promptTokens - 70);
    expect(await readdir(folder)).toEqual([file]);
  });

  it("is saved from host memory too, and from both", async () => {
    const first = await withSlots({ engine }, fixture);
    await ask(first, { idSlot: 0 });
    // Other texts take the cells of the first one, which leaves for host memory.
    await first.model.generate({ prompt: "another story ".repeat(280), maxTokens: 1, idSlot: 1 });
    const { tokens } = await first.model.slots.save(0, file);
    await first[Symbol.asyncDispose]();
    await using second = await withSlots({ engine }, fixture);
    expect((await second.model.slots.restore(0, file)).tokens).toBe(tokens);
    expect((await ask(second)).usage.cachedTokens).toBeGreaterThan(1000);
  });

  it("is erased: its text is computed again, and what another text shares with it stays", async () => {
    await using loaded = await withSlots({ engine }, fixture);
    const truth = await ask(loaded, { idSlot: 0 });
    const { tokens } = await loaded.model.slots.erase(0);
    expect(tokens).toBeGreaterThanOrEqual(truth.usage.promptTokens);
    const again = await ask(loaded, { idSlot: 0 });
    expect([again.usage.cachedTokens, again.text]).toEqual([0, truth.text]);
    await ask(loaded, { prompt: `${prompt}And then?</s>`, idSlot: 1 });
    await loaded.model.slots.erase(0);
    expect((await ask(loaded)).usage.cachedTokens).toBeGreaterThan(1000);
    await expect(loaded.model.slots.erase(0)).resolves.toBeDefined();
  });
});

describe("a slot", () => {
  it("is saved while another request runs, which continues", async () => {
    await using loaded = await withSlots({ contextLength: 2048, cells: 4096 });
    await ask(loaded, { idSlot: 0 });
    const running = loaded.model.generate({
      prompt: "on and on",
      maxTokens: 300,
      ignoreEos: true,
      idSlot: 1,
    });
    const { tokens } = await loaded.model.slots.save(0, file);
    expect(tokens).toBeGreaterThan(1000);
    expect((await running).usage.completionTokens).toBe(300);
  });

  it("is not restored for another salt than that of its requests, even from a copied file", async () => {
    await using loaded = await withSlots();
    await ask(loaded, { idSlot: 0, cacheSalt: "one" });
    await loaded.model.slots.save(0, file, { cacheSalt: "one" });
    await ask(loaded, { prompt: "x", idSlot: 0, cacheSalt: "other" });
    await loaded.model.slots.save(0, "x.bin", { cacheSalt: "other" });
    const folders = await readdir(folder);
    expect(folders).toHaveLength(2);
    const saved = await findSaved(file);
    await copyFile(saved, path.join(path.dirname(await findSaved("x.bin")), file));
    await copyFile(saved, path.join(folder, file));
    for (const other of [{ cacheSalt: "other" }, {}]) {
      const restored = loaded.model.slots.restore(0, file, other);
      await expect(restored).rejects.toThrow("saved by requests with another salt");
      expect((await ask(loaded, other)).usage.cachedTokens).toBeLessThan(2);
    }
    expect((await loaded.model.slots.restore(0, file, { cacheSalt: "one" })).tokens).toBeGreaterThan(1000);
  });

  it("names the text of the request that ended last, also of one that was cancelled", async () => {
    await using loaded = await withSlots();
    await expect(loaded.model.slots.save(0, file)).rejects.toMatchObject(refused());
    await ask(loaded, { idSlot: 0 });
    const generation = loaded.model.generate({ prompt: "on and on ".repeat(40), ignoreEos: true, idSlot: 0 });
    for await (const _ of generation) break;
    await expect(generation).rejects.toThrow();
    await ask(loaded, { prompt: "x", idSlot: 1 }); // the engine has cancelled the request before
    const { tokens } = await loaded.model.slots.save(0, file);
    expect(tokens).toBeGreaterThan(80);
    expect(tokens).toBeLessThan(400);
  });

  it("is chosen by the prompt: the most similar one, else the one that was used longest ago", async () => {
    await using loaded = await withSlots();
    const usedSlot = async (text: string, extra: object = {}): Promise<number | undefined> => {
      const generation = loaded.model.generate({ prompt: text, maxTokens: 1, ...extra });
      await generation;
      return generation.idSlot;
    };
    expect(await usedSlot("The river is quiet tonight.", { idSlot: 1 })).toBe(1);
    expect(await usedSlot("Zebras in a zoo, zipping about.")).toBe(0);
    expect(await usedSlot("The river is quiet tonight. It is late.")).toBe(1);
    expect(await usedSlot("1, 2, 3, 4, 5, 6, 7")).toBe(0);
    await expect(usedSlot("x", { idSlot: 2 })).rejects.toMatchObject(refused("idSlot"));
  });

  it("needs a folder, a tier in host memory, and a file's name without a folder", async () => {
    await using without = await loadTiny(options);
    expect(without.model.slots.hasFolder).toBe(false);
    await expect(without.model.slots.save(0, file)).rejects.toMatchObject(refused());
    await expect(withSlots({ cacheRamMiB: 0 })).rejects.toMatchObject(refused("slotDir"));
    await using loaded = await withSlots();
    await ask(loaded, { idSlot: 0 });
    const names = [
      "",
      ".",
      "..",
      "../a",
      "a/b",
      "a\\b",
      ".hidden",
      "a\0b",
      "C:a",
      "con",
      "nul.bin",
      "a.",
      "é".repeat(101),
    ];
    for (const name of names) {
      await expect(loaded.model.slots.save(0, name)).rejects.toMatchObject(refused("file"));
      await expect(loaded.model.slots.restore(0, name)).rejects.toMatchObject(refused("file"));
    }
    await loaded.model.slots.save(0, "Grüße aus Köln.v2.bin");
    expect(await readdir(folder)).toEqual(["Grüße aus Köln.v2.bin"]);
    await expect(loaded.model.slots.save(2, file)).rejects.toMatchObject(refused("id"));
  });

  it("is not restored from a damaged, cut, foreign or missing file, and the engine goes on", async () => {
    await using loaded = await withSlots();
    const truth = await ask(loaded, { idSlot: 0 });
    await loaded.model.slots.save(0, file);
    const whole = await readFile(path.join(folder, file));
    const restored = async (bytes: Uint8Array): Promise<unknown> => {
      await writeFile(path.join(folder, "changed.bin"), bytes);
      return await loaded.model.slots.restore(1, "changed.bin").catch((error: unknown) => error);
    };
    await expect(loaded.model.slots.restore(1, "none.bin")).rejects.toMatchObject(refused());
    for (let part = 0; part < 12; part += 1) {
      const cut = whole.subarray(0, Math.floor((whole.length * part) / 12));
      expect(await restored(cut)).toMatchObject(refused());
      const damaged = Buffer.from(whole);
      const at = Math.floor((whole.length * part) / 12);
      damaged[at] = (damaged[at] ?? 0) ^ 0x41;
      expect(await restored(damaged)).toMatchObject(refused());
    }
    expect((await ask(loaded, { cachePrompt: false })).text).toBe(truth.text);
    await using other = await withSlots({}, { weights: "f32", seed: 2 });
    await expect(other.model.slots.restore(0, file)).rejects.toThrow("not saved here by this model");
    await using otherBits = await withSlots({ kvTypeK: "q8_0" });
    await expect(otherBits.model.slots.restore(0, file)).rejects.toThrow("not saved here by this model");
  });

  it("does not fit less host memory than it takes, when it is saved and when it is restored", async () => {
    // About 2.2 MB.
    await using small = await withSlots({ cacheRamMiB: 1, cells: 4096 });
    await ask(small, { idSlot: 0 });
    await expect(small.model.slots.save(0, file)).rejects.toMatchObject({ code: "out_of_memory" });
    expect(await readdir(folder)).toEqual([]);
    await using large = await withSlots();
    await ask(large, { idSlot: 0 });
    await large.model.slots.save(0, file);
    await expect(small.model.slots.restore(0, file)).rejects.toMatchObject({ code: "out_of_memory" });
  });

  it("stops when its signal is aborted, and leaves no file", async () => {
    await using loaded = await withSlots();
    await ask(loaded, { idSlot: 0 });
    const reason = new Error("no more");
    await expect(loaded.model.slots.save(0, file, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    const controller = new AbortController();
    const saved = loaded.model.slots.save(0, file, { signal: controller.signal });
    controller.abort(reason);
    await saved.catch((error: unknown) => expect(error).toBe(reason));
    await loaded.model.slots.save(0, "next.bin");
    expect((await readdir(folder)).every((name) => !name.startsWith("."))).toBe(true);
  });

  it("is saved by any number of requests at once, whatever their names", async () => {
    await using loaded = await withSlots();
    await ask(loaded, { idSlot: 0 });
    const names = [file, `${file}.part`, `${file}.saving`];
    const saves = Array.from({ length: 30 }, (_, index) =>
      loaded.model.slots.save(0, names[index % names.length] ?? ""),
    );
    const bytes = new Set((await Promise.all(saves)).map((change) => change.bytes));
    expect(bytes.size).toBe(1);
    expect((await readdir(folder)).toSorted()).toEqual(names.toSorted());
    for (const name of names) expect((await stat(path.join(folder, name))).size).toBe([...bytes][0]);
  });

  it("is not saved over a folder, and the error says so", async () => {
    await using loaded = await withSlots();
    await ask(loaded, { idSlot: 0 });
    await mkdir(path.join(folder, file));
    await expect(loaded.model.slots.save(0, file)).rejects.toThrow(/folder/);
    await expect(loaded.model.slots.save(0, file)).rejects.toMatchObject({ code: "invalid_request" });
    expect(await readdir(folder)).toEqual([file]);
  });

  it("fills its folder with at most a thousand files", async () => {
    await using loaded = await withSlots();
    await ask(loaded, { idSlot: 0 });
    await loaded.model.slots.save(0, file);
    for (let number = 1; number < 1000; number += 1)
      await (await open(path.join(folder, `${number}`), "w")).close();
    await expect(loaded.model.slots.save(0, "new.bin")).rejects.toMatchObject(refused("file"));
    await loaded.model.slots.save(0, file);
  });

  it("is not saved with images in its text", async () => {
    const { model, projector } = await tinyVisionModel({ architecture: "lfm2", weights: "f32" });
    await using loaded = await load(model, { ...options, threads: 1, mmproj: projector, slotDir: folder });
    const messages = [{ role: "user" as const, content: [anImage()] }];
    await loaded.model.generate({ messages, maxTokens: 4, idSlot: 0 });
    await expect(loaded.model.slots.save(0, file)).rejects.toThrow("images");
  });
});
