import { describe, expect, it } from "vitest";
import { prepareForTemplate } from "./chat-preparation.ts";
import { checkGenerationRequest } from "../generate/generation-request.ts";
import { scriptedTemplate } from "@ingle/fixtures/scripted-addon";

function prepare(more: object, skills: object = {}): ReturnType<typeof prepareForTemplate> {
  const request = checkGenerationRequest({ messages: [{ role: "user", content: "Hi" }], ...more });
  if (request.messages === undefined) throw new Error("no chat");
  return prepareForTemplate(request, { ...scriptedTemplate, ...skills });
}

const lost = { type: "object", properties: { place: { $ref: "#/$defs/place" } } };

it.each(["auto", "required"])(
  "names the tool and the reference that points at nothing, with %s",
  (toolChoice) => {
    const tools = [{ name: "now" }, { name: "find", parameters: lost }];
    expect(() => prepare({ tools, toolChoice })).toThrow(
      'tools: the parameters of "find": $ref #/$defs/place points at nothing.',
    );
    const known = { ...lost, $defs: { place: { type: "string" } } };
    expect(() => prepare({ tools: [{ name: "find", parameters: known }], toolChoice })).not.toThrow();
  },
);

it("tells templates that fail on nullable types of the types without null, whatever the names of properties", () => {
  const parameters = {
    type: "object",
    properties: { type: { type: ["string", "null"] }, n: { items: { type: ["integer", "string", "null"] } } },
  };
  const sentParameters = (writesNullTypes: boolean): unknown =>
    JSON.parse(
      prepare({ tools: [{ name: "read", parameters }] }, { writesNullTypes }).chat.tools[0]?.parameters ?? "",
    );
  expect(sentParameters(true)).toEqual(parameters);
  expect(sentParameters(false)).toEqual({
    type: "object",
    properties: { type: { type: "string" }, n: { items: { type: ["integer", "string"] } } },
  });
});

it("lets a tool that is named be called once, and several when some tool is required", () => {
  const tools = [{ name: "now" }, { name: "find" }];
  expect(prepare({ tools, toolChoice: { name: "now" } }).chat.parallelToolCalls).toBe(false);
  expect(prepare({ tools, toolChoice: "required" }).chat.parallelToolCalls).toBe(true);
});

it("lets the model reason unless the request, or else its load, says no", () => {
  expect(prepare({}).chat.enableThinking).toBe(true);
  expect(prepare({}, { thinks: false }).chat.enableThinking).toBe(false);
  expect(prepare({ thinking: true }, { thinks: false }).chat.enableThinking).toBe(true);
  expect(prepare({ thinking: false }, { thinks: true }).chat.enableThinking).toBe(false);
});

describe("a form beside tools", () => {
  const asked = { tools: [{ name: "now" }], responseFormat: { type: "json" } };
  const begin = '{"tool_calls": [';
  const explainsSyntax = ({ chat }: ReturnType<typeof prepare>) =>
    chat.messages[0]?.content.includes(begin) ?? false;

  it("stays in the template's syntax where that holds a reply to either", () => {
    const prepared = prepare(asked);
    expect(prepared.chat).toMatchObject({ tools: [{ name: "now" }], contentHasCalls: false, grammar: "" });
    expect(prepared.chat.contentRules).not.toBe("");
    expect([explainsSyntax(prepared), prepared.read]).toEqual([false, undefined]);
  });

  it("is told of in our syntax where it does not, with the calls before", () => {
    const toolCalls = [{ id: "a", name: "now", arguments: "{}" }];
    const messages = [
      { role: "user", content: "When?" },
      { role: "assistant", content: "", toolCalls },
      { role: "tool", content: "Noon.", toolCallId: "a" },
    ];
    const prepared = prepare({ ...asked, messages }, { holdsFormOrCalls: false });
    expect(prepared.chat).toMatchObject({ tools: [], contentHasCalls: true });
    expect(prepared.chat.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(prepared.chat.messages[2]).toMatchObject({
      content: expect.stringContaining(begin),
      toolCalls: [],
    });
    expect([explainsSyntax(prepared), prepared.read]).toEqual([true, expect.any(Function)]);
  });

  it("changes nothing where no text can have it, or no call comes", () => {
    for (const toolChoice of ["required", "none"]) {
      const prepared = prepare({ ...asked, toolChoice }, { holdsFormOrCalls: false });
      expect([explainsSyntax(prepared), prepared.chat.tools.length]).toEqual([
        false,
        toolChoice === "none" ? 0 : 1,
      ]);
    }
  });
});

describe("a tool that a message describes", () => {
  const tools = [{ name: "find" }, { name: "fetch", isDeferred: true }];
  const names = (chat: ReturnType<typeof prepare>["chat"] | undefined) => chat?.tools.map(({ name }) => name);

  it("may be called, but stands not in the prompt's list", () => {
    const { chat, promptChat } = prepare({ tools });
    expect([names(chat), names(promptChat)]).toEqual([["find", "fetch"], ["find"]]);
    expect({ ...promptChat, tools: [] }).toEqual({ ...chat, tools: [] });
    expect(prepare({ tools: tools.slice(0, 1) }).promptChat).toBeUndefined();
  });

  it("changes nothing before it in our syntax either", () => {
    const firstText = ({ chat }: ReturnType<typeof prepare>) => chat.messages[0]?.content;
    const skills = { writesTools: false };
    const [one, both] = [prepare({ tools: tools.slice(0, 1) }, skills), prepare({ tools }, skills)];
    expect(firstText(both)).toBe(firstText(one));
    expect(both.chat.grammar).toContain("fetch");
    expect(one.chat.grammar).not.toContain("fetch");
  });
});
