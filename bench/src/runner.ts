// Runs scenarios: every case in rounds, in every round each subject, started fresh with the same prompts.
import { BenchError } from "./bench-error.ts";
import { formatNumber } from "./comparison.ts";
import { assertIdle } from "./machine.ts";
import { type Measured, type Round, usageValues, type Scenario, type ScenarioCase } from "./scenario.ts";
import { requestFigures, userRequest } from "./stream-record.ts";
import type { BenchOptions } from "./options.ts";
import type { PeerOptions } from "./peers.ts";
import { startHttpSubject } from "./http-subject.ts";
import { startNodeLlamaCpp } from "./node-llama-cpp-subject.ts";
import { makePrompts, deriveSeed, measureTokensPerWord } from "./prompts.ts";
import type { ModelFiles, Subject, SubjectName, SubjectOptions } from "./subject.ts";

/** One reply before the measured ones, so that first-time compilation and allocation are not measured. */
const warmUp = { promptTokens: 16, replyTokens: 8 };

export interface RunOptions
  extends
    PeerOptions,
    Pick<
      BenchOptions,
      "engine" | "force" | "mmproj" | "rounds" | "seed" | "slots" | "threads" | "tinyModel" | "withPeers"
    > {
  model: string;
}

/** All rounds of all scenarios. Failed requests become rounds with an error; only a busy machine or an abort throws. */
export async function runScenarios(scenarios: readonly Scenario[], options: RunOptions): Promise<Round[]> {
  const rounds: Round[] = [];
  for (const scenario of scenarios) {
    const cases = scenario.cases.filter(({ slotsMin = 1 }) => options.slots >= slotsMin);
    for (const one of cases) rounds.push(...(await runCase(scenario, one, options)));
  }
  return rounds;
}

async function runCase(scenario: Scenario, one: ScenarioCase, options: RunOptions): Promise<Round[]> {
  const { model, mmproj, tinyModel, signal } = options;
  const files = (await one.model?.({ model, mmproj, tinyModel, signal })) ?? { model };
  const tokensPerWord = await measureTokensPerWord(files.model, { signal });
  const subjects = options.withPeers ? scenario.subjects : scenario.subjects.slice(0, 1);
  const rounds: Round[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    const seed = deriveSeed(options.seed, `${scenario.name} ${one.name} ${round}`);
    for (const subject of subjects) {
      const task = { scenario, one, round, seed, subject, files, tokensPerWord };
      rounds.push(await runRound(task, options));
    }
  }
  return rounds;
}

interface Task {
  scenario: Scenario;
  one: ScenarioCase;
  round: number;
  seed: number;
  subject: SubjectName;
  files: ModelFiles;
  tokensPerWord: number;
}

async function runRound(task: Task, options: RunOptions): Promise<Round> {
  const { scenario, one, round, seed, subject } = task;
  const head = { scenario: scenario.name, case: one.name, round, seed, subject };
  const measure = scenario.measures[0]?.key ?? "";
  return await recordRound(head, measure, async () => await measureOnce(task, options), options);
}

async function measureOnce(task: Task, options: RunOptions): Promise<Measured> {
  const { one, seed, tokensPerWord, files } = task;
  const { engine, threads, signal } = options;
  const slots = Math.max(options.slots, one.slots ?? 0);
  await using subject = await startSubject(task.subject, { ...files, threads, slots, engine, signal });
  if (one.isCold !== true) await warm(subject, seed, tokensPerWord);
  const before = await subject.usage();
  const measured = await one.run({ subject, prompts: makePrompts(seed, tokensPerWord), signal });
  const after = await subject.usage();
  return { ...measured, values: { ...measured.values, ...usageValues(before, after) } };
}

async function warm(subject: Subject, seed: number, tokensPerWord: number): Promise<void> {
  const text = makePrompts(deriveSeed(seed, "warm-up"), tokensPerWord).text(warmUp.promptTokens);
  await subject.stream(userRequest(text, warmUp.replyTokens));
}

async function startSubject(name: SubjectName, options: SubjectOptions): Promise<Subject> {
  switch (name) {
    case "ingle":
    case "llama-server":
      return await startHttpSubject(name, options);
    case "node-llama-cpp":
      return await startNodeLlamaCpp(options);
    case "llama-bench":
      throw new Error("llama-bench serves no requests.");
  }
}

type Head = Pick<Round, "scenario" | "case" | "round" | "seed" | "subject">;

/**
 * `measure` is the key of the figure to print. Throws BenchError if the machine is busy, the signal's reason, and bugs of
 * this code; errors of the subject are recorded in the round.
 */
export async function recordRound(
  head: Head,
  measure: string,
  work: () => Promise<Measured>,
  { force, rounds, signal, say }: Pick<RunOptions, "force" | "rounds" | "signal" | "say">,
): Promise<Round> {
  const busyShare = await assertIdle({ force, signal });
  const title = `${head.scenario}, ${head.case}, round ${head.round} of ${rounds}: ${head.subject}`;
  try {
    const { values, requests } = await work();
    say(`${title}: ${formatNumber(values[measure] ?? Number.NaN)}`);
    return { ...head, busyShare, values, requests: requests.map(requestFigures) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof BenchError)) throw error;
    say(`${title}: failed. ${error.message}`);
    return { ...head, busyShare, values: {}, requests: [], error: error.message };
  }
}
