import { describe, expect, it } from "vitest";

import { exampleReplyMessage } from "../../test/examples.ts";
import { chatMarkdown, fileNameOf, titleOf } from "./conversation-text.ts";

describe("titleOf", () => {
  it("takes the first line with text", () => {
    expect(titleOf("\n\n  # A *plan*  \nmore")).toBe("A plan");
    expect(titleOf("```\ncode")).toBe("code");
    expect(titleOf(" \n ")).toBe("");
  });

  it("cuts a long line at a word", () => {
    const title = titleOf("word ".repeat(40));
    expect(title.length).toBeLessThanOrEqual(81);
    expect(title.endsWith("word…")).toBe(true);
  });

  it("cuts a line without spaces anywhere", () => {
    expect(titleOf("x".repeat(200))).toBe(`${"x".repeat(80)}…`);
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

describe("fileNameOf", () => {
  it("leaves no characters that a file system would reject", () => {
    expect(fileNameOf("Brot: wie lange? / «Größe»", "md")).toBe("Brot-wie-lange-Größe.md");
    expect(fileNameOf("../..", "json")).toBe("chat.json");
  });
});
