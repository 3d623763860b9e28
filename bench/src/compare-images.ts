// `pnpm bench images`: compares Ingle's replies about generated images with those of llama.cpp's llama-mtmd-cli, word by
// word. Both decode greedily, on one thread, with the same files; a difference is a bug in one of them, or rounding.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { decodeImage, load, type LoadedModel } from "@ingle/engine";
import { drawImage, encodePng, tinyVisionModel, type TinyVisionModel } from "@ingle/fixtures";
import { plainEnvironment, runProgram } from "./child-process.ts";
import { llamaProgram } from "./peers.ts";

const question = "What is this?";
const replyTokens = 16;
const contextTokens = 4096;
const replyLimitMs = 600_000;

/**
 * Images of one tile and of several, and narrow ones. No side is halfway between two grid lines: there our patch of llama.cpp
 * rounds as LFM2-VL's processor does, and upstream does not.
 */
const images = [
  { name: "gradient", motif: "gradient", width: 256, height: 384 },
  { name: "disc", motif: "disc", width: 352, height: 352 },
  { name: "ribbon", motif: "stripes", width: 600, height: 60 },
  { name: "tiles", motif: "checks", width: 1000, height: 800 },
] as const;

interface CompareOptions {
  /** A model and its projector; undefined means tiny ones of every architecture. */
  files: TinyVisionModel | undefined;
  say: (line: string) => void;
  signal: AbortSignal;
}

/** Reports for each model and image whether the replies are equal. Returns how many differ. Throws BenchError. */
export async function compareImages({ files, say, signal }: CompareOptions): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-images-"));
  try {
    let different = 0;
    for (const [name, model] of await chooseModels(files)) {
      await using loaded = await load(model.model, {
        mmproj: model.projector,
        contextLength: contextTokens,
        threads: 1,
        signal,
      });
      for (const { name: shown, motif, width, height } of images) {
        const file = path.join(folder, `${shown}.png`);
        await writeFile(file, await encodePng(drawImage(motif, width, height)));
        const [ours, theirs] = [await askIngle(loaded, file, signal), await askMtmdCli(model, file, signal)];
        if (ours.trim() !== theirs.trim()) different += 1;
        say(
          ours.trim() === theirs.trim()
            ? `${name}, ${shown}: equal`
            : describeDifference(`${name}, ${shown}`, ours, theirs),
        );
      }
    }
    return different;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function chooseModels(files: TinyVisionModel | undefined): Promise<[string, TinyVisionModel][]> {
  if (files !== undefined) return [[path.basename(files.model), files]];
  const architectures = ["lfm2", "gemma3", "qwen2vl"] as const;
  return Promise.all(
    architectures.map(async (architecture): Promise<[string, TinyVisionModel]> => [
      architecture,
      await tinyVisionModel({ architecture, contextLength: contextTokens }),
    ]),
  );
}

async function askIngle({ model }: LoadedModel, file: string, signal: AbortSignal): Promise<string> {
  const image = await decodeImage(await readFile(file), { signal });
  const content = [
    { type: "image" as const, image },
    { type: "text" as const, text: question },
  ];
  const { text } = await model.generate(
    { messages: [{ role: "user", content }], temperature: 0, maxTokens: replyTokens },
    { signal },
  );
  return text;
}

async function askMtmdCli(
  { model, projector }: TinyVisionModel,
  file: string,
  signal: AbortSignal,
): Promise<string> {
  const files = ["--model", model, "--mmproj", projector, "--image", file];
  const sizes = ["--ctx-size", String(contextTokens), "--predict", String(replyTokens), "--threads", "1"];
  const args = [...files, ...sizes, "--prompt", question, "--temp", "0", "--no-warmup"];
  return runProgram(llamaProgram("llama-mtmd-cli"), args, {
    env: plainEnvironment(),
    limitMs: replyLimitMs,
    signal,
  });
}

function describeDifference(head: string, ours: string, theirs: string): string {
  return `${head}: different\n  ingle           ${ours.trim()}\n  llama-mtmd-cli  ${theirs.trim()}`;
}
