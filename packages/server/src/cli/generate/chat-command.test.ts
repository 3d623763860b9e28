import { describe, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import type { Engine } from "../context.ts";
import { main } from "../main.ts";
import { pasteOff, pasteOn } from "./terminal-input.ts";

const ctrlC = "\u0003";
const ctrlD = "\u0004";
const pasteStart = "\u001B[200~";
const pasteEnd = "\u001B[201~";

/** The scripted engine, and the conversations that its model received. */
function listeningEngine(script: Parameters<typeof scriptedEngine>[0] = {}): {
  engine: Engine;
  asked: string[];
} {
  const asked: string[] = [];
  const engine = scriptedEngine(script);
  const load: Engine["load"] = async (file, options) => {
    const loaded = await engine.load(file, options);
    const generate = loaded.model.generate.bind(loaded.model);
    loaded.model.generate = (request, rest) => {
      asked.push(
        (request.messages ?? [])
          .map(({ role, content }) => `${role}: ${typeof content === "string" ? content : "images"}`)
          .join(" | "),
      );
      return generate(request, rest);
    };
    return loaded;
  };
  return { engine: { ...engine, load }, asked };
}

describe("ingle chat with piped input", () => {
  it("replies to each line with the conversation so far, and ends with the input", async () => {
    const { engine, asked } = listeningEngine({ pieces: ["Yes", "."] });
    const { context, stdin, out } = testWorld({ engine });
    stdin.end("One?\n\nTwo?\n");
    expect(await main("ingle", ["chat", "--system", "Be brief."], context)).toBe(0);
    expect(out()).toBe("Yes.\nYes.\n");
    expect(asked).toEqual([
      "system: Be brief. | user: One?",
      "system: Be brief. | user: One? | assistant: Yes. | user: Two?",
    ]);
  });

  it("takes several lines between triple quotes as one message, and a backslash as it is", async () => {
    const { engine, asked } = listeningEngine({ pieces: ["Yes."] });
    const { context, stdin } = testWorld({ engine });
    stdin.end('"""\nOne\nTwo\n"""\nC:\\\n"""begun\nand not ended');
    expect(await main("ingle", ["chat"], context)).toBe(0);
    expect(asked.map((all) => all.split("| user: ").at(-1))).toEqual([
      "user: One\nTwo",
      "C:\\",
      "begun\nand not ended",
    ]);
  });

  it("forgets with /clear and ends with /exit", async () => {
    const { engine, asked } = listeningEngine({ pieces: ["Yes."] });
    const { context, stdin, err } = testWorld({ engine });
    stdin.end("One?\n/clear\nTwo?\n/exit\nThree?\n");
    expect(await main("ingle", ["chat"], context)).toBe(0);
    expect(asked).toEqual(["user: One?", "user: Two?"]);
    expect(err()).toContain("The conversation is forgotten.");
  });

  it("lists its commands with /help, and for an unknown one", async () => {
    const { engine, asked } = listeningEngine();
    const { context, stdin, err } = testWorld({ engine });
    stdin.end("/help\n/frobnicate\n");
    await main("ingle", ["chat"], context);
    expect(err().match(/\/clear +forget/g)).toHaveLength(2);
    expect(err()).toContain("Unknown command: /frobnicate.");
    expect(asked).toEqual([]);
  });

  it("continues after a message that is too long, and says how", async () => {
    const refusal = {
      code: "context_length_exceeded",
      message: "The prompt has 9 tokens, the context 8.",
    } as const;
    const { context, stdin, err } = testWorld({ engine: scriptedEngine({ refusal }) });
    stdin.end("One?\nTwo?\n");
    expect(await main("ingle", ["chat"], context)).toBe(0);
    expect(err().match(/the context 8\. Use \/clear to start over\./g)).toHaveLength(2);
  });

  it("ends with 1 when the engine fails", async () => {
    const failure = { code: "engine_failed", message: "The decode failed." } as const;
    const { context, stdin, err } = testWorld({ engine: scriptedEngine({ failure }) });
    stdin.end("One?\nTwo?\n");
    expect(await main("ingle", ["chat"], context)).toBe(1);
    expect(err()).toContain("ingle: The decode failed.");
  });

  it("refuses a model without a chat template", async () => {
    const { context, err } = testWorld({ engine: scriptedEngine({ info: { hasChatTemplate: false } }) });
    expect(await main("ingle", ["chat"], context)).toBe(1);
    expect(err()).toContain("has no chat template");
  });

  it("exits with 143 at SIGTERM, even in the middle of a reply", async () => {
    const { context, stdin, signals, outHas } = testWorld({
      engine: scriptedEngine({ pieces: ["a", "b"], delayMs: 60 }),
    });
    const running = main("ingle", ["chat"], context);
    stdin.write("One?\n");
    await outHas("a");
    signals.emit("SIGTERM");
    expect(await running).toBe(143);
  });
});

describe("ingle chat on a terminal", () => {
  it("stops a reply at Ctrl-C, keeps what was said and continues; Ctrl-C at the prompt ends the chat", async () => {
    const { engine, asked } = listeningEngine({ pieces: ["a", "b", "c"], delayMs: 40 });
    const { context, stdin, outHas, errHas, exits } = testWorld({ engine, isTTY: true });
    const running = main("ingle", ["chat"], context);
    await outHas("> ");
    stdin.write("One?\r");
    await outHas("a");
    stdin.write(ctrlC);
    await errHas("(stopped)");
    stdin.write("Two?\r");
    await outHas("abc");
    await new Promise((resolve) => setTimeout(resolve, 20));
    stdin.write(ctrlC);
    expect(await running).toBe(0);
    expect(asked).toEqual([
      "user: One?",
      expect.stringMatching(/^user: One\? \| assistant: ab? \| user: Two\?$/),
    ]);
    expect(exits).toEqual([]);
  });

  it("forgets a message whose reply is stopped before it begins", async () => {
    const { engine, asked } = listeningEngine({ pieces: ["a"], delayMs: 400 });
    const { context, stdin, outHas, errHas } = testWorld({ engine, isTTY: true });
    const running = main("ingle", ["chat"], context);
    await outHas("> ");
    stdin.write("One?\r");
    await expect.poll(() => asked.length).toBe(1);
    stdin.write(ctrlC);
    await errHas("(stopped before it began; this message is forgotten)");
    stdin.write("Two?\r");
    await expect.poll(() => asked).toEqual(["user: One?", "user: Two?"]);
    stdin.end();
    expect(await running).toBe(0);
  });

  it("takes a pasted text of several lines as one message, in the line that is typed", async () => {
    const { engine, asked } = listeningEngine({ pieces: ["Yes."] });
    const { context, stdin, out, outHas } = testWorld({ engine, isTTY: true });
    const running = main("ingle", ["chat"], context);
    await outHas(pasteOn);
    await outHas("> ");
    stdin.write(`Look: ${pasteStart}one\rtwo\r\nthree\n${pasteEnd}`);
    // The sequence itself may arrive in parts.
    stdin.write(pasteStart.slice(0, 3));
    stdin.write(`${pasteStart.slice(3)} right?${pasteEnd}`);
    await outHas("[pasted text 1: 3 lines] right?");
    stdin.write("\r");
    await outHas("Yes.");
    stdin.write(ctrlD);
    expect(await running).toBe(0);
    expect(asked).toEqual(["user: Look: one\ntwo\nthree right?"]);
    expect(out()).toContain(pasteOff);
  });

  it("begins a new line with Alt+Enter, with a backslash before Enter, and between triple quotes", async () => {
    const { engine, asked } = listeningEngine({ pieces: ["Yes."] });
    const { context, stdin, outHas } = testWorld({ engine, isTTY: true });
    const running = main("ingle", ["chat"], context);
    await outHas("> ");
    stdin.write("a\u001B\rb\\\rc\r");
    await outHas("Yes.");
    stdin.write('"""first\rsecond\\\r\r"""\r');
    await expect.poll(() => asked.length).toBe(2);
    stdin.write(ctrlD);
    expect(await running).toBe(0);
    expect(asked[0]).toBe("user: a\nb\nc");
    expect(asked[1]).toContain("| user: first\nsecond\\");
  });

  it("ends at Ctrl-D, even if it was pressed during a reply", async () => {
    const { context, stdin, outHas, out } = testWorld({
      engine: scriptedEngine({ pieces: ["a", "b"], delayMs: 40 }),
      isTTY: true,
    });
    const running = main("ingle", ["chat"], context);
    await outHas("> ");
    stdin.write("One?\r");
    await outHas("a");
    stdin.write(ctrlD);
    expect(await running).toBe(0);
    expect(out()).toContain("ab\n");
  });
});
