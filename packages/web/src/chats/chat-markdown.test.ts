import { describe, expect, it } from "vitest";

import { chatMarkdown, fileNameOf } from "./chat-markdown.ts";

describe("chatMarkdown", () => {
  it("writes what is said in turn, with the names of files", () => {
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
        {
          role: "assistant",
          id: "a",
          ...place,
          text: "An hour.\n",
          reply: {
            model: "acme/tiny",
            round: "r",
            thinking: "hm",
            thinkingMs: 1,
            status: "done",
            finish: "stop",
            error: null,
            figures: null,
          },
        },
      ],
      { title: "Bread", you: "You", file: (name) => `Attached: ${name}` },
    );
    expect(text).toBe("# Bread\n\n## You\n\n*Attached: rye.md*\n\nHow long?\n\n## acme/tiny\n\nAn hour.\n");
  });
});

describe("fileNameOf", () => {
  it("leaves nothing that a file system would refuse", () => {
    expect(fileNameOf("Brot: wie lange? / «Größe»", "md")).toBe("Brot-wie-lange-Größe.md");
    expect(fileNameOf("../..", "json")).toBe("chat.json");
  });
});
