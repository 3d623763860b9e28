import { describe, expect, it } from "vitest";

import { shownArguments, shownText } from "./shown-text.ts";

describe("shownText", () => {
  it("shows what could hide or reorder text, and keeps everything else", () => {
    expect(shownText("rm\u202e \u200bx\u0007\ny\u2028é 😀")).toBe(
      "rm\\u{202e} \\u{200b}x\\u{7}\ny\\u{2028}é 😀",
    );
  });
});

describe("shownArguments", () => {
  it("indents JSON", () => {
    expect(shownArguments('{"path":"a\u202eb"}')).toBe('{\n  "path": "a\\u{202e}b"\n}');
  });

  it("shows anything else as it was written", () => {
    expect(shownArguments('{"path":')).toBe('{"path":');
  });
});
