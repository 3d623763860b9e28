// `ingle chat`: a conversation in the terminal. Ctrl-C stops a reply; at the prompt, it ends the chat.
import readline from "node:readline";
import type { ChatSession } from "@ingle/engine";
import { CliError, exitCodes } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import type { GenerationFlags } from "../command-flags.ts";
import { samplingOf, settingsOf } from "./generation-settings.ts";
import { chooseModel } from "../model/choose-model.ts";
import { modelBudget, openModel } from "../model/open-model.ts";

const help = `/clear  forget the conversation
/exit   end the chat (or press Ctrl-D)
/help   show this list
Ctrl-C  stop a reply; at the prompt, end the chat
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
      `${choice.id} has no chat template, so it cannot chat. Use "ingle run" to complete text with it.`,
    );
  }
  const session = new engine.ChatSession(loaded.model, { ...sampling, system: flags.system });
  context.stderr.write(`Chatting with ${choice.id}. /help lists the commands.\n`);
  await converse(session, context);
  return exitCodes.ok;
}

const replyStopped = new DOMException("The reply was stopped.", "AbortError");

/** Messages and replies, until the input ends or the user ends the chat. Throws the shutdown's reason. */
async function converse(session: ChatSession, context: CommandContext): Promise<void> {
  const { shutdown } = context;
  using input = new ChatInput(context);
  let replying: AbortController | undefined;
  input.onInterrupt(() => (replying === undefined ? input.close() : replying.abort(replyStopped)));
  shutdown.signal.addEventListener("abort", () => input.close(), { once: true });
  for await (const line of input.lines()) {
    const text = line.trim();
    if (text === "/exit") break;
    if (text.startsWith("/")) runChatCommand(text, session, context);
    else if (text !== "") {
      replying = new AbortController();
      const signal = AbortSignal.any([replying.signal, shutdown.signal]);
      await reply(session, text, { ...context, signal });
      replying = undefined;
    }
  }
  shutdown.signal.throwIfAborted();
}

/** Lines from a terminal, with a prompt, or from a pipe. */
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

  /** While readline owns the terminal, Ctrl-C is a key, not a signal. */
  onInterrupt(listener: () => void): void {
    this.#readline.on("SIGINT", listener);
  }

  async *lines(): AsyncGenerator<string, void, undefined> {
    this.#prompt();
    for await (const line of this.#readline) {
      yield line;
      this.#prompt();
    }
    if (this.#isTerminal) this.#stdout.write("\n");
  }

  /** No more lines after those already read. */
  close(): void {
    this.#readline.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #prompt(): void {
    // `true` keeps the cursor after what was typed during the reply.
    if (this.#isTerminal && this.#isOpen) this.#readline.prompt(true);
  }
}

function runChatCommand(command: string, session: ChatSession, { stderr }: CommandContext): void {
  if (command === "/clear") {
    session.clear();
    stderr.write("The conversation is forgotten.\n");
  } else {
    stderr.write(command === "/help" ? help : `Unknown command: ${command}.\n${help}`);
  }
}

/** Streams one reply. A stopped reply or a full context is reported and the chat continues; anything else is thrown. */
async function reply(
  session: ChatSession,
  message: string,
  { stdout, stderr, engine, signal }: CommandContext & { signal: AbortSignal },
): Promise<void> {
  const { EngineError } = await engine();
  try {
    for await (const piece of session.send(message, { signal })) stdout.write(piece);
    stdout.write("\n");
  } catch (error) {
    stdout.write("\n");
    if (error === replyStopped) stderr.write("(stopped; this message is forgotten)\n");
    else if (EngineError.is(error) && error.code === "context_length_exceeded") {
      stderr.write(`${error.message} Use /clear to start over.\n`);
    } else throw error;
  }
}
