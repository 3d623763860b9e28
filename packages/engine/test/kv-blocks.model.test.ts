// Reports of reusable KV blocks: a follower applies them as a router would, and predicts what later requests find in the cache.
import { kvBlockTokens, type KvBlockMedium, type KvBlockReport, type LoadedModel } from "@ingle/engine";
import { exactArithmetic, until } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { loadTiny } from "./tiny.ts";

const turnEnd = "</s>";

/** Tracks where each block is, and finds the cached prefix of a text. */
class Router {
  readonly blocks = new Map<bigint, { medium: KvBlockMedium; parent: bigint; tokens: string }>();
  reports = 0;

  readonly follow = (report: KvBlockReport): void => {
    this.reports += 1;
    if (report.isRestated) this.blocks.clear();
    for (const medium of ["device", "host"] as const) {
      for (const hash of report.removed[medium]) {
        if (this.blocks.get(hash)?.medium !== medium) throw new Error("An unknown block was removed.");
        this.blocks.delete(hash);
      }
    }
    for (const { medium, parent, hashes, tokens } of report.stored) {
      if (parent !== 0n && !this.blocks.has(parent)) throw new Error("A block's parent is unknown.");
      for (const [i, hash] of hashes.entries()) {
        const own = tokens.subarray(i * kvBlockTokens, (i + 1) * kvBlockTokens);
        if (own.length !== kvBlockTokens || this.blocks.has(hash))
          throw new Error("A block is incomplete or was reported before.");
        this.blocks.set(hash, { medium, parent: hashes[i - 1] ?? parent, tokens: own.join() });
      }
    }
  };

  /** The longest prefix of a text in complete blocks, by where they are. */
  find(tokens: Int32Array): KvBlockMedium[] {
    const found: KvBlockMedium[] = [];
    let parent = 0n;
    for (let at = 0; at + kvBlockTokens <= tokens.length; at += kvBlockTokens) {
      const own = tokens.subarray(at, at + kvBlockTokens).join();
      const next = [...this.blocks].find(([, block]) => block.parent === parent && block.tokens === own);
      if (next === undefined) break;
      parent = next[0];
      found.push(next[1].medium);
    }
    return found;
  }
}

function question(word: string, sentences: number): string {
  return `${`The ${word} is quiet tonight, and nobody asks why. `.repeat(sentences)}${turnEnd}`;
}

async function tokenize({ tokenizer }: LoadedModel, prompt: string): Promise<Int32Array> {
  return Int32Array.from(await tokenizer.encode(prompt));
}

async function ask({ model }: LoadedModel, prompt: string): Promise<number> {
  return (await model.generate({ prompt, temperature: 0, maxTokens: 4 })).usage.cachedTokens;
}

describe.each([
  { name: "a llama", fixture: { weights: "f32" } },
  { name: "an lfm2", fixture: { architecture: "lfm2" } },
] as const)("blocks of $name", ({ fixture }) => {
  const options = { ...exactArithmetic, contextLength: 768, cells: 1024, parallel: 2, kvBlockSalt: "tiny" };

  it("are reported when a prompt is computed, and match what the next request finds", async () => {
    await using loaded = await loadTiny(options, fixture);
    const router = new Router();
    using _follower = loaded.model.followKvBlocks(router.follow);
    const prompt = question("river", 24);
    const tokens = await tokenize(loaded, prompt);
    expect(router.find(tokens)).toEqual([]);
    await ask(loaded, prompt);
    const blocks = Math.floor(tokens.length / kvBlockTokens);
    expect(blocks).toBeGreaterThan(2);
    await until(() => router.find(tokens).length === blocks);
    const cached = await ask(loaded, `${prompt}What now?${turnEnd}`);
    expect(cached).toBeGreaterThanOrEqual(blocks * kvBlockTokens);
    const other = question("copper", 12);
    expect(router.find(await tokenize(loaded, other)).length).toBeLessThan(2);
  });

  it("are reported when they move to host memory and when they are removed", async () => {
    await using loaded = await loadTiny({ ...options, cacheRamMiB: 64 }, fixture);
    const router = new Router();
    using _follower = loaded.model.followKvBlocks(router.follow);
    const first = question("river", 24);
    const tokens = await tokenize(loaded, first);
    const blocks = Math.floor(tokens.length / kvBlockTokens);
    await ask(loaded, first);
    await until(() => router.find(tokens).length === blocks);
    const words = ["lantern", "copper", "harbour", "winter", "orbit", "maple", "signal", "gravel"];
    for (const word of words) await ask(loaded, question(word, 24));
    await until(() => router.find(tokens).includes("host"));
    // It is copied back, and reported as in the context again.
    const cached = await ask(loaded, `${first}What now?${turnEnd}`);
    expect(cached).toBeGreaterThanOrEqual(blocks * kvBlockTokens);
    await until(() => !router.find(tokens).includes("host"));
    expect(router.find(tokens)).toHaveLength(blocks);
  });

  it("are reported as removed without host memory", async () => {
    await using loaded = await loadTiny({ ...options, cacheRamMiB: 0 }, fixture);
    const router = new Router();
    using _follower = loaded.model.followKvBlocks(router.follow);
    const first = question("river", 24);
    const tokens = await tokenize(loaded, first);
    await ask(loaded, first);
    await until(() => router.find(tokens).length > 0);
    for (const word of ["lantern", "copper", "harbour", "winter", "orbit"])
      await ask(loaded, question(word, 24));
    await until(() => router.find(tokens).length < 2);
    expect(await ask(loaded, first)).toBeLessThan(kvBlockTokens);
  });
});

describe("following", () => {
  it("reports all blocks again on request, and only to the last follower", async () => {
    await using loaded = await loadTiny({ ...exactArithmetic, kvBlockSalt: "tiny" });
    const router = new Router();
    const follower = loaded.model.followKvBlocks(router.follow);
    const prompt = question("river", 24);
    const tokens = await tokenize(loaded, prompt);
    const blocks = Math.floor(tokens.length / kvBlockTokens);
    await ask(loaded, prompt);
    await until(() => router.find(tokens).length === blocks);
    router.blocks.clear();
    follower.restate();
    await until(() => router.find(tokens).length === blocks);
    const later = new Router();
    using _later = loaded.model.followKvBlocks(later.follow);
    await until(() => later.find(tokens).length === blocks);
    follower[Symbol.dispose](); // the replaced follower: has no effect
    await ask(loaded, question("copper", 12));
    const other = await tokenize(loaded, question("copper", 12));
    await until(() => later.find(other).length === Math.floor(other.length / kvBlockTokens));
    expect(router.find(other).length).toBeLessThan(2);
  });

  it("reports nothing for a request that neither uses nor leaves blocks", async () => {
    await using loaded = await loadTiny({ ...exactArithmetic, kvBlockSalt: "tiny" });
    const router = new Router();
    using _follower = loaded.model.followKvBlocks(router.follow);
    await loaded.model.generate({ prompt: question("river", 24), maxTokens: 80, cachePrompt: false });
    await ask(loaded, question("copper", 12));
    const tokens = await tokenize(loaded, question("copper", 12));
    await until(() => router.find(tokens).length > 0);
    expect(router.find(await tokenize(loaded, question("river", 24))).length).toBeLessThan(2);
    expect(router.blocks.size).toBe(Math.floor((tokens.length + 3) / kvBlockTokens));
  });

  it("is an error for a model loaded without kvBlockSalt", async () => {
    await using loaded = await loadTiny();
    expect(loaded.model.info.reportsKvBlocks).toBe(false);
    expect(() => loaded.model.followKvBlocks(() => {})).toThrow(/kvBlockSalt/);
  });
});
