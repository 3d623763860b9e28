import { describe, expect, it } from "vitest";
import { ChatSession } from "./chat-session.ts";
import type { SessionTool } from "./session-tools.ts";
import { scriptedModel } from "../test/harness/scripted-model.ts";

async function say(session: ChatSession, content: string, signal?: AbortSignal): Promise<string> {
  let text = "";
  for await (const piece of session.send(content, { signal })) text += piece;
  return text;
}

describe("a chat session", () => {
  it("replies to each message with all earlier ones in mind", async () => {
    const { model, log } = await scriptedModel({ pieces: ["Yes", "."] });
    const session = new ChatSession(model, { system: "Be brief." });
    expect(await say(session, "One?")).toBe("Yes.");
    await say(session, "Two?");
    expect(log.prompts.at(-1)).toBe("system: Be brief.\nuser: One?\nassistant: Yes.\nuser: Two?");
    expect(session.messages.length).toBe(5);
  });

  it("forgets all but the system message when it is cleared", async () => {
    const { model } = await scriptedModel();
    const session = new ChatSession(model, { system: "Be brief." });
    await say(session, "One?");
    session.clear();
    expect(session.messages).toEqual([{ role: "system", content: "Be brief." }]);
  });

  it("stays the same when a reply is aborted or left", async () => {
    const { model, log } = await scriptedModel({ pieces: ["a", "b", "c"], delayMs: 5 });
    const session = new ChatSession(model);
    await expect(say(session, "One?", AbortSignal.timeout(2))).rejects.toThrow(/time/i);
    for await (const piece of session.send("Two?")) {
      expect(piece).toBe("a");
      break;
    }
    expect(session.messages).toEqual([]);
    expect(log.running.size).toBe(0);
    expect(await say(session, "Three?")).toBe("abc");
  });

  it("refuses a second message while it replies", async () => {
    const { model } = await scriptedModel({ delayMs: 2 });
    const session = new ChatSession(model);
    const first = say(session, "One?");
    await expect(say(session, "Two?")).rejects.toMatchObject({ code: "invalid_request" });
    await first;
  });
});

/** Replies with these texts in turn, and with "Done." after them. What begins with `[` is a list of calls. */
function callingModel(...replies: readonly string[]) {
  return scriptedModel({
    pieces: (reply) => [replies[reply - 1] ?? "Done."],
    reply: (text) =>
      text.startsWith("[")
        ? { content: "", reasoning: "", calls: JSON.parse(text) }
        : { content: text, reasoning: "", calls: [] },
  });
}

function call(name: string, args: unknown, id = ""): object {
  return { id, name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
}

const add: SessionTool = { name: "add", run: async ({ a, b }) => `${Number(a) + Number(b)}` };

describe("tools of a chat session", () => {
  it("runs the calls of each reply in their order until a reply calls none", async () => {
    const first = JSON.stringify([call("add", { a: 1, b: 2 }, "one"), call("add", { a: 3, b: 4 }, "two")]);
    const second = JSON.stringify([call("add", { a: 3, b: 7 }, "three")]);
    const { model, log } = await callingModel(first, second, "It is 10.");
    const session = new ChatSession(model, { tools: [add] });
    expect(await say(session, "Add them.")).toBe("It is 10.");
    expect(session.messages.map(({ role, content, toolCallId }) => [role, content, toolCallId])).toEqual([
      ["user", "Add them.", undefined],
      ["assistant", "", undefined],
      ["tool", "3", "one"],
      ["tool", "7", "two"],
      ["assistant", "", undefined],
      ["tool", "10", "three"],
      ["assistant", "It is 10.", undefined],
    ]);
    expect(log.chats.map(({ tools }) => tools.map(({ name }) => name))).toEqual([["add"], ["add"], ["add"]]);
    expect(await say(session, "Thanks.")).toBe("Done.");
    expect(session.messages).toHaveLength(9);
  });

  it("gives the model what failed, and goes on", async () => {
    const broken: SessionTool = {
      name: "broken",
      run: async () => {
        throw new Error("the station is closed");
      },
    };
    const calls = [call("broken", {}), call("nowhere", {}), call("add", "[1, 2]"), call("add", "{oops")];
    const { model } = await callingModel(JSON.stringify(calls));
    const session = new ChatSession(model, { tools: [add, broken] });
    expect(await say(session, "Try.")).toBe("Done.");
    expect(session.messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
      "Error: the station is closed",
      'Error: There is no tool "nowhere".',
      "Error: The arguments are not a JSON object.",
      "Error: The arguments are not a JSON object.",
    ]);
  });

  it("allows no calls after its limit of rounds, and requires one only at first", async () => {
    const again = JSON.stringify([call("add", { a: 1, b: 1 })]);
    // Required calls are written in the engine's own syntax.
    const required = '{"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}]}';
    const { model, log } = await callingModel(required, again, again);
    const session = new ChatSession(model, { tools: [add], toolRoundsMax: 2, toolChoice: "required" });
    await say(session, "Add.");
    expect(log.chats.map(({ toolChoice, tools }) => [toolChoice, tools.length])).toEqual([
      ["required", 1],
      ["auto", 1],
      ["none", 0],
    ]);
    expect(session.messages.filter(({ role }) => role === "tool")).toHaveLength(2);
  });

  it("does not run a call of a reply that was cut", async () => {
    let runs = 0;
    const counted: SessionTool = { name: "counted", run: async () => `${(runs += 1)}` };
    const { model } = await scriptedModel({
      pieces: [JSON.stringify([call("counted", {})])],
      finishReason: "length",
      reply: (text) => ({ content: "", reasoning: "", calls: JSON.parse(text) }),
    });
    const session = new ChatSession(model, { tools: [counted] });
    await say(session, "Count.");
    expect(runs).toBe(0);
    expect(session.messages).toHaveLength(2);
  });

  it("stays the same when a call is aborted", async () => {
    const caller = new AbortController();
    const slow: SessionTool = {
      name: "slow",
      run: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("it ended")), { once: true });
          caller.abort(new Error("enough"));
        }),
    };
    const { model, log } = await callingModel(JSON.stringify([call("slow", {})]));
    const session = new ChatSession(model, { tools: [slow] });
    await expect(say(session, "Wait.", caller.signal)).rejects.toThrow("enough");
    expect(session.messages).toEqual([]);
    expect(log.requests).toHaveLength(1);
  });
});
