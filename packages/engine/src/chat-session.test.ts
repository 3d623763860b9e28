import { describe, expect, it } from "vitest";
import { ChatSession } from "./chat-session.ts";
import { scriptedModel } from "./testing/scripted-model.ts";

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
