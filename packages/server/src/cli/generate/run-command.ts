// `ingle run "prompt"`: generates one reply, and writes it to stdout as it is generated.
import type { GenerationRequest } from "@ingle/engine";
import { exitCodes, usageError } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import type { GenerationFlags } from "../command-flags.ts";
import { engineFor, ownSettings, resolveSampling, resolveSettings } from "./generation-settings.ts";
import { thinkingDefaults } from "../../generation/sampling-defaults.ts";
import { chooseModel } from "../model/choose-model.ts";
import { modelBudget, openModel } from "../model/open-model.ts";
import { formatBytes } from "../text.ts";

/** More text than any model's context holds: a limit in case a whole disk is piped in by mistake. */
const promptBytesMax = 16 * 1024 * 1024;

/** `words` are the prompt; without words, it is read from stdin. Returns the exit code. */
export async function runCommand(
  words: string[],
  flags: GenerationFlags,
  context: CommandContext,
): Promise<number> {
  const { shutdown, stdout, env } = context;
  const engine = await context.engine();
  const settings = resolveSettings(flags, env);
  resolveSampling(flags, settings.sampling, engine); // a wrong flag is an error before a model is touched
  const choice = await chooseModel(settings, context);
  const own = await ownSettings(choice.id, context);
  const samplingFor = resolveSampling(flags, settings.sampling, engine, own);
  const prompt = await readPrompt(words, context);
  await using loaded = await openModel(choice, context, {
    ...settings,
    engine: engineFor(own, flags, settings),
    budget: await modelBudget(settings.models, engine),
  });
  const { model } = loaded;
  const sampling = samplingFor(model);
  const request: GenerationRequest = model.info.hasChatTemplate
    ? {
        ...sampling,
        ...thinkingDefaults(own),
        messages: [...systemMessages(flags.system ?? own.system_prompt), { role: "user", content: prompt }],
      }
    : { ...sampling, prompt: completionPrompt(prompt, flags) };
  try {
    for await (const { text } of model.generate(request, { signal: shutdown.signal })) stdout.write(text);
  } finally {
    stdout.write("\n"); // also after a reply that was cut, so that the error starts on a line of its own
  }
  return exitCodes.ok;
}

function systemMessages(system: string | undefined): { role: string; content: string }[] {
  return system === undefined ? [] : [{ role: "system", content: system }];
}

/** A model without a chat template continues the text; it has no system message. */
function completionPrompt(prompt: string, { system }: GenerationFlags): string {
  if (system === undefined) return prompt;
  throw usageError("This model has no chat template, so it cannot use --system. Remove that flag.");
}

async function readPrompt(words: string[], { stdin, shutdown }: CommandContext): Promise<string> {
  const prompt = words.length > 0 ? words.join(" ") : await readAll(stdin, shutdown.signal);
  if (prompt.trim() !== "") return prompt;
  throw usageError(
    'No prompt given. Pass one as an argument, for example: ingle run "What is the capital of France?"',
  );
}

/** Everything that is piped in; "" for a terminal, where nothing would tell the user to type. */
async function readAll(stdin: CommandContext["stdin"], signal: AbortSignal): Promise<string> {
  if (stdin.isTTY === true) return "";
  signal.throwIfAborted();
  const cancel = (): unknown => stdin.destroy(new Error("Interrupted.", { cause: signal.reason }));
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await readInput(stdin);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

async function readInput(stdin: CommandContext["stdin"]): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > promptBytesMax)
      throw usageError(`The prompt on stdin is longer than ${formatBytes(promptBytesMax)}.`);
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString("utf8");
}
