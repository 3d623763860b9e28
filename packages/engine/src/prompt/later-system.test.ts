import { expect, it } from "vitest";
import { withoutLaterSystem } from "./later-system.ts";

const system = (content: string) => ({ role: "system", content });
const user = (content: string) => ({ role: "user", content });
const assistant = { role: "assistant", content: "Yes." };
const result = { role: "tool", content: "a.txt", toolCallId: "a" };

it("leaves a conversation alone whose only system message is the first", () => {
  const messages = [system("Be brief."), user("Hi"), assistant, user("And?")];
  expect(withoutLaterSystem(messages)).toEqual(messages);
  expect(withoutLaterSystem([user("Hi")])).toEqual([user("Hi")]);
});

it("puts a system message behind the user's turn before it", () => {
  const turns = withoutLaterSystem([system("Be brief."), user("Hi"), system("It is noon."), assistant]);
  expect(turns).toEqual([system("Be brief."), user("Hi\n\n<system>\nIt is noon.\n</system>"), assistant]);
});

it("puts one before the user's turn after it, or makes a turn of its own", () => {
  const marked = "<system>\nIt is noon.\n</system>";
  expect(withoutLaterSystem([user("Hi"), assistant, system("It is noon."), user("And?")])).toEqual([
    user("Hi"),
    assistant,
    user(`${marked}\n\nAnd?`),
  ]);
  expect(withoutLaterSystem([user("Hi"), assistant, result, system("It is noon.")])).toEqual([
    user("Hi"),
    assistant,
    result,
    user(marked),
  ]);
});

it("joins several, at the start and later", () => {
  expect(
    withoutLaterSystem([system("A"), system("B"), user("Hi"), assistant, system("C"), system("D")]),
  ).toEqual([
    system("A\n\nB"),
    user("Hi"),
    assistant,
    user("<system>\nC\n</system>\n\n<system>\nD\n</system>"),
  ]);
});

it("keeps images of the user's turn", () => {
  const image = { type: "image" as const, image: { width: 1, height: 1, data: new Uint8Array(3) } };
  const [, , turn] = withoutLaterSystem([
    user("Hi"),
    assistant,
    system("Look."),
    { role: "user", content: [image] },
  ]);
  expect(turn?.content).toEqual([{ type: "text", text: "<system>\nLook.\n</system>" }, image]);
});
