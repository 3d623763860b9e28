// The command line of the benchmark: from words to checked options. Used by main.ts.
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { BenchError, messageOf } from "./bench-error.ts";
import { scenarios } from "./scenarios/all.ts";
import { resultsFolder } from "./workspace.ts";

export type CommandName =
  | "decode"
  | "http"
  | "kv"
  | "quant"
  | "pictures"
  | "peers"
  | "service-times"
  | "simulate"
  | "help";

export interface BenchOptions {
  command: CommandName;
  /** Names of scenarios, each once, in their own order. */
  scenarios: readonly string[];
  /** Kinds of KV cache (kv) or levels (quant), as they are named. */
  kinds: readonly string[];
  /** What simulate plays; the empty text for the others. */
  plan: string;
  withPeers: boolean;
  /** Undefined means the starter model. */
  model: string | undefined;
  /** Its projector (pictures, and http's scenario vision). */
  mmproj: string | undefined;
  /** Instead of a model's file: one of random weights with heads of this size (kv). */
  headSize: number | undefined;
  tinyModel: string | undefined;
  threads: number;
  /** Requests that are computed at the same time (http, service-times). */
  slots: number;
  rounds: number;
  seed: number;
  out: string;
  force: boolean;
  /** Prose to measure quality on: a file, what the model itself writes, or, undefined, a book (kv, quant). */
  text: { file: string } | "sampled" | undefined;
  /** Pieces of the text, and tokens of each (kv, quant). */
  pieces: number;
  pieceTokens: number;
  /** Tokens in the context while the speed is measured, and texts with needles (kv); 0 leaves it out. */
  depth: number;
  needleTexts: number;
}

const roundsDefault: Record<CommandName, number> = {
  decode: 5,
  http: 3,
  kv: 1,
  quant: 1,
  pictures: 0,
  peers: 0,
  "service-times": 3,
  simulate: 0,
  help: 0,
};
/** Far above what anybody waits for. */
const roundsMax = 100;
const threadsMax = 512;
const slotsDefault = 8;
/** As many as Ingle takes. */
const slotsMax = 256;
/** Some ten thousand tokens: the divergence is then known to a few percent. */
const piecesDefault = 32;
const piecesMax = 10_000;
/** What llama-perplexity is mostly run with. */
const pieceTokensDefault = 512;
const pieceTokensMax = 131_072;
const depthDefault = 8_192;
const depthMax = 1_048_576;
const needleTextsDefault = 4;
const needleTextsMax = 1_000;
/** What models have; rotary positions want an even one. */
const headSizeRange = { least: 32, most: 512 };
/** What a seed may be: 32 bits. */
const seedMax = 2 ** 32 - 1;

export const usageText = `pnpm bench <command> [options]

  decode                how fast one answer streams over HTTP, beside llama-bench
  http [scenario …]     what users feel; all scenarios, or the named ones:
                        ${scenarios.map(({ name }) => name).join(", ")}
  kv [type …]           what each kind of KV cache costs and saves
  quant [level …]       the same for each level of quantization; --model is a model that is not quantized
  pictures              whether answers about drawn pictures are those of llama-mtmd-cli
  peers                 only build and install what Ingle is compared with
  service-times         how long a replica takes for prompts and for crowds of replies, for simulate
  simulate PLAN         plays days of arrivals against a cluster of replicas; bench/simulations has plans

  --peers               compare with llama-server and node-llama-cpp (http)
  --model FILE          a .gguf file; default: the starter model, for pictures tiny ones (quant has none)
  --mmproj FILE         its projector (pictures, http vision)
  --text FILE           measure quality on this text instead of a book (kv, quant)
  --sampled             measure it on what the model itself writes: for one that knows no English prose (kv, quant)
  --pieces N            pieces of the text; default: 32 (kv, quant)
  --piece-tokens N      tokens of each; default: 512 (kv, quant)
  --depth N             tokens in the context while the speed is measured; default: 8192; 0 leaves it out (kv)
  --needles N           texts in which five facts are looked for, one at a time; default: 4; 0 for none (kv)
  --head N              instead of --model: a model of random weights with heads of this size (kv)
  --tiny-model FILE     a model for the scenario bridge; default: one is made
  --threads N           threads that compute; default: one per core
  --slots N             requests computed at the same time (http, service-times); default: 8; with 64, parallel has
                        64 clients too
  --rounds N            default: 3 for http and service-times, 5 for decode
  --seed N              draws the same prompts again; default: a random one, which the report shows
  --out DIR             where the results go; default: bench/results
  --force               measure even when the machine is busy; the report says so
`;

/** Throws BenchError for what cannot be understood. Relative paths start at `cwd`. */
export function parseOptions(args: readonly string[], cwd: string): BenchOptions {
  const { values, positionals } = split(args);
  const [command = "help", ...names] = positionals;
  if (!isCommand(command))
    throw new BenchError(`There is no command "${command}"; bench help lists what there is.`);
  if (!["http", "kv", "quant", "simulate"].includes(command) && names.length > 0)
    throw new BenchError(`${command} takes no names: ${names.join(" ")}`);
  const file = (given: string | undefined): string | undefined => {
    if (given === undefined) return undefined;
    const absolute = path.resolve(cwd, given);
    if (!existsSync(absolute)) throw new BenchError(`There is no file ${given}.`);
    return absolute;
  };
  return {
    command: values.help === true ? "help" : command,
    scenarios: command === "http" ? chooseScenarios(names) : [],
    kinds: names,
    plan: command === "simulate" ? choosePlan(names, file) : "",
    withPeers: values.peers ?? false,
    model: file(values.model),
    mmproj: file(values.mmproj),
    headSize: chooseHead(command, values),
    tinyModel: file(values["tiny-model"]),
    threads: number("--threads", values.threads, { least: 1, most: threadsMax }) ?? availableParallelism(),
    slots: number("--slots", values.slots, { least: 1, most: slotsMax }) ?? slotsDefault,
    rounds: number("--rounds", values.rounds, { least: 1, most: roundsMax }) ?? roundsDefault[command],
    seed: number("--seed", values.seed, { least: 0, most: seedMax }) ?? randomInt(seedMax),
    out: path.resolve(cwd, values.out ?? resultsFolder),
    force: values.force ?? false,
    text: chooseText(file(values.text), values.sampled ?? false),
    pieces: number("--pieces", values.pieces, { least: 1, most: piecesMax }) ?? piecesDefault,
    pieceTokens:
      number("--piece-tokens", values["piece-tokens"], { least: 64, most: pieceTokensMax }) ??
      pieceTokensDefault,
    depth: number("--depth", values.depth, { least: 0, most: depthMax }) ?? depthDefault,
    needleTexts:
      number("--needles", values.needles, { least: 0, most: needleTextsMax }) ?? needleTextsDefault,
  };
}

function chooseText(file: string | undefined, isSampled: boolean): BenchOptions["text"] {
  if (file !== undefined && isSampled) throw new BenchError("Give either --text or --sampled.");
  return file === undefined ? (isSampled ? "sampled" : undefined) : { file };
}

function choosePlan(
  names: readonly string[],
  file: (given: string | undefined) => string | undefined,
): string {
  const plan = names.length === 1 ? file(names[0]) : undefined;
  if (plan === undefined)
    throw new BenchError("simulate takes one file with a plan, such as those in bench/simulations.");
  return plan;
}

/** Throws BenchError for a size that no heads have, and where there is a model already. */
function chooseHead(command: string, values: { head?: string; model?: string }): number | undefined {
  const size = number("--head", values.head, headSizeRange);
  if (size === undefined) return undefined;
  if (size % 2 !== 0) throw new BenchError("--head must be even, for rotary positions.");
  if (command !== "kv") throw new BenchError("Only kv takes --head.");
  if (values.model !== undefined) throw new BenchError("Give either --model or --head.");
  return size;
}

function split(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      args: args.filter((arg) => arg !== "--"), // package managers pass it on
      allowPositionals: true,
      options: {
        peers: flag,
        force: flag,
        sampled: flag,
        text,
        pieces: text,
        "piece-tokens": text,
        depth: text,
        needles: text,
        help: { type: "boolean", short: "h" },
        model: text,
        mmproj: text,
        head: text,
        "tiny-model": text,
        threads: text,
        slots: text,
        rounds: text,
        seed: text,
        out: text,
      },
    });
  } catch (error) {
    throw new BenchError(messageOf(error), { cause: error });
  }
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(roundsDefault, name);
}

function chooseScenarios(names: readonly string[]): string[] {
  const all = scenarios.map(({ name }) => name);
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0)
    throw new BenchError(`There is no scenario ${unknown.join(", ")}; there are ${all.join(", ")}.`);
  return all.filter((name) => names.length === 0 || names.includes(name));
}

function number(
  flag: string,
  text: string | undefined,
  range: { least: number; most: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.least && value <= range.most) return value;
  throw new BenchError(`${flag} must be a whole number from ${range.least} to ${range.most}.`);
}
