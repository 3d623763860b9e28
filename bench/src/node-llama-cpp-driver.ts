// Runs node-llama-cpp in a process of its own, like a program that uses it in process: one context with a sequence per
// concurrent request, and a queue for the rest. node-llama-cpp-subject.ts starts it and receives the timings; the processes
// exchange nothing while a reply is generated.
import { pathToFileURL } from "node:url";
import { errorMessage } from "./bench-error.ts";
import type { ChatMessage } from "./stream-record.ts";

export interface DriverOptions {
  entry: string;
  model: string;
  threads: number;
  sequences: number;
  contextLength: number;
}

export interface DriverRequest {
  id: number;
  messages: readonly ChatMessage[];
  maxTokens: number;
}

/** Milliseconds since the request arrived at the driver. */
export interface DriverReply {
  arrivalsMs: number[];
  endedAtMs: number;
  text: string;
  completionTokens: number;
  promptTokens: number;
  reusedTokens: number;
}

export type DriverMessage =
  | { type: "ready" }
  | { type: "reply"; id: number; reply: DriverReply }
  | { type: "error"; id: number | undefined; message: string };

// The part of node-llama-cpp's interface used here; the package is not a dependency of this workspace.
type Token = number & { __token: never };
interface Sequence {
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: Token[], allowShift?: boolean): Promise<void>;
  evaluate(tokens: Token[], options: object): AsyncGenerator<Token, void>;
}
interface Model {
  readonly tokenizer: unknown;
  detokenize(tokens: Token[]): string;
  createContext(options: object): Promise<{ getSequence(): Sequence }>;
}
interface Library {
  getLlama(options: object): Promise<{ loadModel(options: object): Promise<Model> }>;
  resolveChatWrapper(model: Model): {
    generateContextState(state: { chatHistory: object[] }): {
      contextText: { tokenize(tokenizer: unknown): Token[] };
    };
  };
}

/**
 * Serves one request at a time on each sequence. A request takes the most recently used sequence, so that a chat stays on
 * its own, as in a program that keeps one sequence for it.
 */
class Driver {
  readonly #library: Library;
  readonly #model: Model;
  readonly #free: Sequence[];
  readonly #waiting: ((sequence: Sequence) => void)[] = [];

  private constructor(library: Library, model: Model, sequences: Sequence[]) {
    this.#library = library;
    this.#model = model;
    this.#free = sequences;
  }

  static async start(options: DriverOptions): Promise<Driver> {
    const library: Library = await import(pathToFileURL(options.entry).href);
    const { threads, sequences, contextLength: contextSize } = options;
    const llama = await library.getLlama({
      gpu: false,
      build: "never",
      skipDownload: true,
      maxThreads: threads,
      logLevel: "error",
    });
    const model = await llama.loadModel({ modelPath: options.model });
    const context = await model.createContext({
      contextSize, // of each sequence
      sequences,
      threads: { ideal: threads, min: threads },
    });
    const all = Array.from({ length: sequences }, () => context.getSequence());
    return new Driver(library, model, all);
  }

  async reply(request: DriverRequest): Promise<DriverReply> {
    const startedAt = performance.now();
    const sequence =
      this.#free.pop() ?? (await new Promise<Sequence>((resolve) => this.#waiting.push(resolve)));
    try {
      return await this.#generate(sequence, request, startedAt);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(sequence);
      else next(sequence);
    }
  }

  async #generate(sequence: Sequence, request: DriverRequest, startedAt: number): Promise<DriverReply> {
    const tokens = this.#tokenize(request.messages);
    await sequence.adaptStateToTokens(tokens, false);
    // At least one token is evaluated, as a starting point for generation.
    const reusedTokens = Math.min(sequence.nextTokenIndex, tokens.length - 1);
    const reply: DriverReply = {
      arrivalsMs: [],
      endedAtMs: 0,
      text: "",
      completionTokens: 0,
      promptTokens: tokens.length,
      reusedTokens,
    };
    const generation = sequence.evaluate(tokens.slice(sequence.nextTokenIndex), {
      temperature: 0,
      yieldEogToken: true, // continues past the model's own end
    });
    for await (const token of generation) {
      reply.text += this.#model.detokenize([token]);
      reply.arrivalsMs.push(performance.now() - startedAt);
      reply.completionTokens += 1;
      if (reply.completionTokens === request.maxTokens) break;
    }
    reply.endedAtMs = performance.now() - startedAt;
    return reply;
  }

  #tokenize(messages: readonly ChatMessage[]): Token[] {
    const chatHistory = messages.map(({ role, content }) =>
      role === "assistant" ? { type: "model", response: [content] } : { type: role, text: content },
    );
    const history = [...chatHistory, { type: "model", response: [""] }];
    const { contextText } = this.#library.resolveChatWrapper(this.#model).generateContextState({
      chatHistory: history,
    });
    return contextText.tokenize(this.#model.tokenizer);
  }
}

function sendMessage(message: DriverMessage): void {
  process.send?.(message);
}

async function main(options: DriverOptions): Promise<void> {
  const driver = await Driver.start(options);
  const serve = async (request: DriverRequest): Promise<void> => {
    try {
      sendMessage({ type: "reply", id: request.id, reply: await driver.reply(request) });
    } catch (error) {
      sendMessage({ type: "error", id: request.id, message: errorMessage(error) });
    }
  };
  process.on("message", (request: DriverRequest) => void serve(request)); // serve() reports its own errors
  sendMessage({ type: "ready" });
}

process.on("disconnect", () => process.exit(0));
const options: DriverOptions = JSON.parse(process.argv[2] ?? "{}");
try {
  await main(options);
} catch (error) {
  sendMessage({ type: "error", id: undefined, message: errorMessage(error) });
  process.exitCode = 1;
}
