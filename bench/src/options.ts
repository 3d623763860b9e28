// The command line of the benchmark: from words to checked options. Used by main.ts.
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { BenchError, messageOf } from "./bench-error.ts";
import { scenarios } from "./scenarios/all.ts";
import { resultsFolder } from "./workspace.ts";

export type CommandName = "decode" | "http" | "peers" | "help";

export interface BenchOptions {
  command: CommandName;
  /** Names of scenarios, each once, in their own order. */
  scenarios: readonly string[];
  withPeers: boolean;
  /** Undefined means the starter model. */
  model: string | undefined;
  tinyModel: string | undefined;
  threads: number;
  /** Requests that everyone computes at the same time (http). */
  slots: number;
  rounds: number;
  seed: number;
  out: string;
  force: boolean;
}

const roundsDefault: Record<CommandName, number> = { decode: 5, http: 3, peers: 0, help: 0 };
/** Far above what anybody waits for. */
const roundsMax = 100;
const threadsMax = 512;
const slotsDefault = 8;
/** As many as Ingle takes. */
const slotsMax = 256;
/** What a seed may be: 32 bits. */
const seedMax = 2 ** 32 - 1;

export const usageText = `pnpm bench <command> [options]

  decode                how fast one answer streams over HTTP, beside llama-bench
  http [scenario …]     what users feel; all scenarios, or the named ones:
                        ${scenarios.map(({ name }) => name).join(", ")}
  peers                 only build and install what Ingle is compared with

  --peers               compare with llama-server and node-llama-cpp (http)
  --model FILE          a .gguf file; default: the starter model
  --tiny-model FILE     a model for the scenario bridge; default: one is made
  --threads N           threads that compute; default: one per core
  --slots N             requests computed at the same time (http); default: 8; with 64, parallel has 64 clients too
  --rounds N            default: 3 for http, 5 for decode
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
  if (command !== "http" && names.length > 0)
    throw new BenchError(`${command} takes no names: ${names.join(" ")}`);
  const file = (given: string | undefined): string | undefined => {
    if (given === undefined) return undefined;
    const absolute = path.resolve(cwd, given);
    if (!existsSync(absolute)) throw new BenchError(`There is no file ${given}.`);
    return absolute;
  };
  return {
    command: values.help === true ? "help" : command,
    scenarios: chooseScenarios(names),
    withPeers: values.peers ?? false,
    model: file(values.model),
    tinyModel: file(values["tiny-model"]),
    threads: number("--threads", values.threads, { least: 1, most: threadsMax }) ?? availableParallelism(),
    slots: number("--slots", values.slots, { least: 1, most: slotsMax }) ?? slotsDefault,
    rounds: number("--rounds", values.rounds, { least: 1, most: roundsMax }) ?? roundsDefault[command],
    seed: number("--seed", values.seed, { least: 0, most: seedMax }) ?? randomInt(seedMax),
    out: path.resolve(cwd, values.out ?? resultsFolder),
    force: values.force ?? false,
  };
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
        help: { type: "boolean", short: "h" },
        model: text,
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
