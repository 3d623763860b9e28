// `ingle run "prompt"`: one answer on stdout, as it is generated.
import type { GenerationRequest } from "@ingle/engine";
import { exitCodes, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { samplingOf, settingsOf, type GenerationFlags } from "./generation-flags.ts";
import { chooseModel } from "../model/choose-model.ts";
import { modelBudget } from "../model/memory-budget.ts";
import { openModel } from "../model/open-model.ts";
import { formatBytes } from "../../format-bytes.ts";

/** More text than any model's context takes; a whole disk piped in by mistake ends here. */
const promptBytesMax = 16 * 1024 * 1024;

/** `words` are the arguments after the flags; without any, the prompt comes from stdin. Returns the exit code. */
export async function runCommand(
  words: string[],
  flags: GenerationFlags,
  context: CommandContext,
): Promise<number> {
  const { shutdown, stdout, env } = context;
  const engine = await context.engine();
  const sampling = samplingOf(flags, engine);
  const settings = settingsOf(flags, env);
  const choice = await chooseModel(settings, context);
  const prompt = await promptOf(words, context);
  await using loaded = await openModel(choice, context, {
    ...settings,
    budget: await modelBudget(settings.models, engine),
  });
  const { model } = loaded;
  const request: GenerationRequest = model.info.hasChatTemplate
    ? { ...sampling, messages: [...systemOf(flags), { role: "user", content: prompt }] }
    : { ...sampling, prompt: completionPrompt(prompt, flags) };
  try {
    for await (const { text } of model.generate(request, { signal: shutdown.signal })) stdout.write(text);
  } finally {
    stdout.write("\n"); // also behind an answer that was cut, so that the reason gets a line of its own
  }
  return exitCodes.ok;
}

function systemOf({ system }: GenerationFlags): { role: string; content: string }[] {
  return system === undefined ? [] : [{ role: "system", content: system }];
}

/** A model without a chat template goes on with the text, and has nobody to be told a system message. */
function completionPrompt(prompt: string, { system }: GenerationFlags): string {
  if (system === undefined) return prompt;
  throw usageError("This model has no chat template, so --system means nothing to it; leave it out.");
}

async function promptOf(words: string[], { stdin, shutdown }: CommandContext): Promise<string> {
  const prompt = words.length > 0 ? words.join(" ") : await readAll(stdin, shutdown.signal);
  if (prompt.trim() !== "") return prompt;
  throw usageError(
    'There is no prompt. Write it behind the command, such as: ingle run "What is the capital of France?"',
  );
}

/** Everything that is piped in, or "" from a terminal, where nobody would know what to type. */
async function readAll(stdin: CommandContext["stdin"], signal: AbortSignal): Promise<string> {
  if (stdin.isTTY === true) return "";
  signal.throwIfAborted();
  const giveUp = (): unknown => stdin.destroy(new Error("Interrupted.", { cause: signal.reason }));
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await textOf(stdin);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

async function textOf(stdin: CommandContext["stdin"]): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > promptBytesMax)
      throw usageError(`The piped prompt is longer than ${formatBytes(promptBytesMax)}.`);
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString("utf8");
}
