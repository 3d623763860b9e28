// Runs scenarios: every case in rounds, in every round each subject, started fresh with the same prompts.
import { startHttpSubject } from "./http-subject.ts";
import { startNodeLlamaCpp } from "./node-llama-cpp-subject.ts";
import { makePrompts, seedOf } from "./prompts.ts";
import { recordRound } from "./record-round.ts";
import { usageValues, type Measured, type Round, type Scenario, type ScenarioCase } from "./scenario.ts";
import type { ModelFiles, Subject, SubjectName, SubjectOptions } from "./subject.ts";
import { measureTokensPerWord } from "./tokens-per-word.ts";

/** One reply before the measured ones, so that first-time compilation and allocation are not measured. */
const warmUp = { promptTokens: 16, replyTokens: 8 };

export interface RunOptions {
  model: string;
  mmproj: string | undefined;
  tinyModel: string | undefined;
  threads: number;
  slots: number;
  rounds: number;
  seed: number;
  withPeers: boolean;
  force: boolean;
  signal: AbortSignal;
  /** Called before and after every run. */
  say: (line: string) => void;
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
    const seed = seedOf(options.seed, `${scenario.name} ${one.name} ${round}`);
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
  const { threads, signal } = options;
  const slots = Math.max(options.slots, one.slots ?? 0);
  await using subject = await startSubject(task.subject, { ...files, threads, slots, signal });
  if (one.isCold !== true) await warm(subject, seed, tokensPerWord);
  const before = await subject.usage();
  const measured = await one.run({ subject, prompts: makePrompts(seed, tokensPerWord), signal });
  const after = await subject.usage();
  return { ...measured, values: { ...measured.values, ...usageValues(before, after) } };
}

async function warm(subject: Subject, seed: number, tokensPerWord: number): Promise<void> {
  const content = makePrompts(seedOf(seed, "warm-up"), tokensPerWord).text(warmUp.promptTokens);
  await subject.stream({ messages: [{ role: "user", content }], maxTokens: warmUp.replyTokens });
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
