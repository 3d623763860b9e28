// `ingle chat`: a conversation in the terminal. Ctrl-C stops an answer, and at the prompt it ends the chat.
import readline from "node:readline";
import type { ChatSession } from "@ingle/engine";
import { CliError, exitCodes } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { samplingOf, settingsOf, type GenerationFlags } from "./generation-flags.ts";
import { chooseModel } from "../model/choose-model.ts";
import { modelBudget } from "../model/memory-budget.ts";
import { openModel } from "../model/open-model.ts";

const help = `/clear  forget what was said
/exit   end the chat (as Ctrl-D does)
/help   this list
Ctrl-C  stop an answer; at the prompt, end the chat
`;

/** Returns the exit code. Throws CliError for a model that cannot chat, and what loading throws. */
export async function chatCommand(flags: GenerationFlags, context: CommandContext): Promise<number> {
  const engine = await context.engine();
  const sampling = samplingOf(flags, engine);
  const settings = settingsOf(flags, context.env);
  const choice = await chooseModel(settings, context);
  await using loaded = await openModel(choice, context, {
    ...settings,
    budget: await modelBudget(settings.models, engine),
  });
  if (!loaded.model.info.hasChatTemplate) {
    throw new CliError(
      `${choice.id} has no chat template, so it cannot hold a chat; "ingle run" completes texts with it.`,
    );
  }
  const session = new engine.ChatSession(loaded.model, { ...sampling, system: flags.system });
  context.stderr.write(`Chatting with ${choice.id}. /help lists the commands.\n`);
  await converse(session, context);
  return exitCodes.ok;
}

const answerStopped = new DOMException("The answer was stopped.", "AbortError");

/** Question and answer in turns, until the input ends or somebody ends it. Throws the shutdown's reason. */
async function converse(session: ChatSession, context: CommandContext): Promise<void> {
  const { shutdown } = context;
  using input = new ChatInput(context);
  let answering: AbortController | undefined;
  input.onInterrupt(() => (answering === undefined ? input.close() : answering.abort(answerStopped)));
  shutdown.signal.addEventListener("abort", () => input.close(), { once: true });
  for await (const line of input.lines()) {
    const said = line.trim();
    if (said === "/exit") break;
    if (said.startsWith("/")) obey(said, session, context);
    else if (said !== "") {
      answering = new AbortController();
      const signal = AbortSignal.any([answering.signal, shutdown.signal]);
      await answer(session, said, { ...context, signal });
      answering = undefined;
    }
  }
  shutdown.signal.throwIfAborted();
}

/** Lines from the person or from a pipe; only a person is prompted. */
class ChatInput implements Disposable {
  readonly #readline: readline.Interface;
  readonly #stdout: CommandContext["stdout"];
  readonly #isTerminal: boolean;
  #isOpen = true;

  constructor({ stdin, stdout }: CommandContext) {
    this.#stdout = stdout;
    this.#isTerminal = stdin.isTTY === true && stdout.isTTY === true;
    const options = { input: stdin, output: stdout, terminal: this.#isTerminal, prompt: "> " };
    this.#readline = readline.createInterface(options);
    this.#readline.once("close", () => (this.#isOpen = false));
  }

  /** While readline holds the terminal, Ctrl-C is a key and not a signal. */
  onInterrupt(listener: () => void): void {
    this.#readline.on("SIGINT", listener);
  }

  async *lines(): AsyncGenerator<string, void, undefined> {
    this.#ask();
    for await (const line of this.#readline) {
      yield line;
      this.#ask();
    }
    if (this.#isTerminal) this.#stdout.write("\n");
  }

  /** No more lines after those that are there. */
  close(): void {
    this.#readline.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #ask(): void {
    // `true` keeps the cursor behind what was typed while an answer came.
    if (this.#isTerminal && this.#isOpen) this.#readline.prompt(true);
  }
}

function obey(command: string, session: ChatSession, { stderr }: CommandContext): void {
  if (command === "/clear") {
    session.clear();
    stderr.write("Everything that was said is forgotten.\n");
  } else {
    stderr.write(command === "/help" ? help : `There is no ${command} here.\n${help}`);
  }
}

/** Streams one answer. A stopped or too long one is told and the chat goes on; anything else is thrown. */
async function answer(
  session: ChatSession,
  question: string,
  { stdout, stderr, engine, signal }: CommandContext & { signal: AbortSignal },
): Promise<void> {
  const { EngineError } = await engine();
  try {
    for await (const text of session.send(question, { signal })) stdout.write(text);
    stdout.write("\n");
  } catch (error) {
    stdout.write("\n");
    if (error === answerStopped) stderr.write("(stopped; this question is forgotten)\n");
    else if (EngineError.is(error) && error.code === "context_length_exceeded") {
      stderr.write(`${error.message} /clear starts over.\n`);
    } else throw error;
  }
}
