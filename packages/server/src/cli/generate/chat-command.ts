// `ingle chat`: a conversation in the terminal. Ctrl-C stops a reply; at the prompt, it ends the chat.
import type { ChatSession } from "@ingle/engine";
import { CliError, exitCodes } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import type { ChatFlags } from "../command-flags.ts";
import { ChatInput } from "./chat-input.ts";
import { ChatTools } from "./chat-tools.ts";
import { engineFor, ownSettings, resolveSampling, resolveSettings } from "./generation-settings.ts";
import { thinkingDefaults } from "../../generation/sampling-defaults.ts";
import { chooseModel } from "../model/choose-model.ts";
import { modelBudget, openModel } from "../model/open-model.ts";

const help = `/clear     forget the conversation
/tools     list the tools that the model may call
/exit      end the chat (or press Ctrl-D)
/help      show this list
Ctrl-C     stop a reply, which stays in the conversation; at the prompt, end the chat
Alt+Enter  begin a new line; so does a \\ before Enter
"""        begin a message of several lines; the next """ ends it
A pasted text is one message, however many lines it has.
`;

/** Returns the exit code. Throws CliError for a model that cannot chat, and what loading throws. */
export async function chatCommand(flags: ChatFlags, context: CommandContext): Promise<number> {
  const engine = await context.engine();
  const settings = resolveSettings(flags, context.env);
  resolveSampling(flags, settings.sampling, engine); // a wrong flag is an error before a model is touched
  const choice = await chooseModel(settings, context);
  const own = await ownSettings(choice.id, context);
  const samplingFor = resolveSampling(flags, settings.sampling, engine, own);
  // They start while the model loads.
  await using tools = await ChatTools.open(flags.mcp, context);
  await using loaded = await openModel(choice, context, {
    ...settings,
    engine: engineFor(own, flags, settings),
    budget: await modelBudget(settings.models, engine),
  });
  if (!loaded.model.info.hasChatTemplate) {
    throw new CliError(
      `${choice.id} has no chat template, so it cannot chat. Use "ingle run" to complete text with it.`,
    );
  }
  await tools.started(context);
  using input = new ChatInput(context);
  const output = new ReplyOutput(context.stdout);
  const screen = { input, stderr: context.stderr, endLine: () => output.endLine() };
  const session = new engine.ChatSession(loaded.model, {
    ...samplingFor(loaded.model),
    ...thinkingDefaults(own),
    system: flags.system ?? own.system_prompt,
    ...(await tools.sessionOptions(loaded.model, screen)),
  });
  context.stderr.write(`Chatting with ${choice.id}. /help lists the commands.\n`);
  await converse({ session, tools, input, output }, context);
  return exitCodes.ok;
}

/** The parts of one chat. */
interface Chat {
  session: ChatSession;
  tools: ChatTools;
  input: ChatInput;
  output: ReplyOutput;
}

/** Writes replies, and knows whether the last one's line has ended. */
class ReplyOutput {
  readonly #stdout: CommandContext["stdout"];
  #isInLine = false;

  constructor(stdout: CommandContext["stdout"]) {
    this.#stdout = stdout;
  }

  write(text: string): void {
    this.#stdout.write(text);
    if (text !== "") this.#isInLine = !text.endsWith("\n");
  }

  /** Begins a new line, unless the reply has just done so. */
  endLine(): void {
    if (this.#isInLine) this.write("\n");
  }
}

const replyStopped = new DOMException("The reply was stopped.", "AbortError");

/** Messages and replies, until the input ends or the user ends the chat. Throws the shutdown's reason. */
async function converse(chat: Chat, context: CommandContext): Promise<void> {
  const { shutdown } = context;
  const { input } = chat;
  let replying: AbortController | undefined;
  input.onInterrupt(() => (replying === undefined ? input.close() : replying.abort(replyStopped)));
  shutdown.signal.addEventListener("abort", () => input.close(), { once: true });
  for await (const message of input.messages()) {
    const text = message.trim();
    if (text === "/exit") break;
    if (text.startsWith("/")) runChatCommand(text, chat, context);
    else if (text !== "") {
      replying = new AbortController();
      const signal = AbortSignal.any([replying.signal, shutdown.signal]);
      await reply(chat, text, { ...context, signal });
      replying = undefined;
    }
  }
  shutdown.signal.throwIfAborted();
}

function runChatCommand(command: string, { session, tools }: Chat, { stderr }: CommandContext): void {
  if (command === "/clear") {
    session.clear();
    stderr.write("The conversation is forgotten.\n");
  } else if (command === "/tools") {
    stderr.write(tools.describe());
  } else {
    stderr.write(command === "/help" ? help : `Unknown command: ${command}.\n${help}`);
  }
}

/** Streams one reply. A stopped reply or a full context is reported and the chat continues; anything else is thrown. */
async function reply(
  { session, output }: Chat,
  message: string,
  { stderr, engine, signal }: CommandContext & { signal: AbortSignal },
): Promise<void> {
  const { EngineError } = await engine();
  const { messages: before } = session;
  try {
    for await (const piece of session.send(message, { signal, keepStopped: true })) output.write(piece);
    output.write("\n");
  } catch (error) {
    output.write("\n");
    if (error === replyStopped) {
      const isKept = session.messages !== before;
      stderr.write(isKept ? "(stopped)\n" : "(stopped before it began; this message is forgotten)\n");
    } else if (EngineError.is(error) && error.code === "context_length_exceeded") {
      stderr.write(`${error.message} Use /clear to start over.\n`);
    } else throw error;
  }
}
