import { describe, expect, it } from "vitest";

import { exampleReplyMessage } from "../../test/examples.ts";
import { chatMarkdown, toFileName, toTitle } from "./conversation-text.ts";

describe("toTitle", () => {
  it("takes the first line with text", () => {
    expect(toTitle("\n\n  # A *plan*  \nmore")).toBe("A plan");
    expect(toTitle("```\ncode")).toBe("code");
    expect(toTitle(" \n ")).toBe("");
  });

  it("cuts a long line at a word", () => {
    const title = toTitle("word ".repeat(40));
    expect(title.length).toBeLessThanOrEqual(81);
    expect(title.endsWith("word…")).toBe(true);
  });

  it("cuts a line without spaces anywhere", () => {
    expect(toTitle("x".repeat(200))).toBe(`${"x".repeat(80)}…`);
  });
});

describe("chatMarkdown", () => {
  it("writes the messages in order, with the names of their files", () => {
    const place = { conversationId: "c", parentId: null, createdAt: 0 };
    const text = chatMarkdown(
      [
        {
          role: "user",
          id: "q",
          ...place,
          text: "How long?",
          attachments: [{ kind: "text", id: "f", name: "rye.md", bytes: 3, text: "rye" }],
        },
        exampleReplyMessage({ text: "An hour.\n" }, { model: "acme/tiny", thinking: "hm" }),
      ],
      { title: "Bread", you: "You" },
    );
    expect(text).toBe("# Bread\n\n## You\n\n*rye.md*\n\nHow long?\n\n## acme/tiny\n\nAn hour.\n");
  });
});

it("chatMarkdown writes what came before calls, and the names of the tools", () => {
  const call = { id: "1", name: "read", arguments: "{}", place: null, status: "done" as const, content: [] };
  const steps = [{ text: "Let me look.\n", thinking: "", calls: [call] }];
  const text = chatMarkdown([exampleReplyMessage({ text: "Milk." }, { steps })], {
    title: "List",
    you: "You",
  });
  expect(text).toBe("# List\n\n## m\n\nLet me look.\n\n*read*\n\nMilk.\n");
});

describe("toFileName", () => {
  it("leaves no characters that a file system would reject", () => {
    expect(toFileName("Brot: wie lange? / «Größe»", "md")).toBe("Brot-wie-lange-Größe.md");
    expect(toFileName("../..", "json")).toBe("chat.json");
  });
});
