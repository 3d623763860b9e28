import { expect, it } from "vitest";
import { withoutRefusedTurns } from "./alternating-turns.ts";

const all = {
  refusesUserAfterUser: true,
  refusesAssistantAfterAssistant: true,
  refusesUserAfterResult: true,
};
const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });
const call = {
  role: "assistant",
  content: "",
  toolCalls: [{ id: "abcdefghi", name: "list", arguments: "{}" }],
};
const result = { role: "tool", content: "a.txt", toolCallId: "abcdefghi" };

it("makes one turn of what the user says in several, and of what the assistant says", () => {
  const turns = [user("A"), user("B"), user("C"), assistant("D"), assistant("E"), user("F")];
  expect(withoutRefusedTurns(turns, all)).toEqual([
    user("A\n\nB\n\nC"),
    { ...assistant("D\n\nE"), reasoning: "" },
    user("F"),
  ]);
});

it("adds what the user says after results to the last of them", () => {
  const turns = [
    user("A"),
    call,
    result,
    { ...result, toolCallId: "b" },
    user("B"),
    user("C"),
    assistant("D"),
  ];
  expect(withoutRefusedTurns(turns, all)).toEqual([
    user("A"),
    call,
    result,
    { ...result, toolCallId: "b", content: "a.txt\n\nB\n\nC" },
    assistant("D"),
  ]);
});

it("adds calls to the text before them, with all thoughts, and no text to calls before it", () => {
  const thinking = { ...assistant("Let me see."), reasoning: "Hm." };
  const turns = [user("A"), thinking, { ...call, reasoning: "So." }, result, assistant("B"), user("C")];
  expect(withoutRefusedTurns(turns, all)).toEqual([
    user("A"),
    { ...call, content: "Let me see.", reasoning: "Hm.\n\nSo." },
    result,
    assistant("B"),
    user("C"),
  ]);
  const unanswered = [user("A"), call, assistant("B")];
  expect(withoutRefusedTurns(unanswered, all)).toEqual(unanswered);
});

it("keeps images, and a space between the texts beside them", () => {
  const image = { type: "image" as const, image: { width: 1, height: 1, data: new Uint8Array(3) } };
  const seen = { role: "user", content: [image, { type: "text" as const, text: "This?" }] };
  expect(withoutRefusedTurns([user("A"), seen, user("B")], all)).toEqual([
    { role: "user", content: [{ type: "text", text: "A" }, image, { type: "text", text: "This?\n\nB" }] },
  ]);
});

it("changes nothing that the template does not refuse", () => {
  const turns = [user("A"), user("B"), assistant("C"), assistant("D"), call, result, user("E"), user("F")];
  const none = {
    refusesUserAfterUser: false,
    refusesAssistantAfterAssistant: false,
    refusesUserAfterResult: false,
  };
  expect(withoutRefusedTurns(turns, none)).toEqual(turns);
  expect(withoutRefusedTurns(turns, { ...none, refusesUserAfterResult: true })).toEqual([
    ...turns.slice(0, 5),
    { ...result, content: "a.txt\n\nE\n\nF" },
  ]);
});
