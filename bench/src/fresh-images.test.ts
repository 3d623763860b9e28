import { decodeImage } from "@ingle/engine";
import { describe, expect, it } from "vitest";
import { freshImage, type ImageSize } from "./fresh-images.ts";
import { makePrompts } from "./prompts.ts";

const jpeg: ImageSize = { format: "jpeg", width: 64, height: 48 };

describe("freshImage", () => {
  it.each([jpeg, { ...jpeg, format: "png" } as const])("is a $format of the size asked for", async (size) => {
    const url = await freshImage(makePrompts(7, 2), size);
    const [, format, base64 = ""] = /^data:image\/(\w+);base64,(.+)$/.exec(url) ?? [];
    expect(format).toBe(size.format);
    const { width, height } = await decodeImage(Buffer.from(base64, "base64"));
    expect([width, height]).toEqual([64, 48]);
  });

  it("is the same for the same seed, and another each time", async () => {
    const [a, b] = [makePrompts(7, 2), makePrompts(7, 2)];
    const first = await freshImage(a, jpeg);
    expect(await freshImage(b, jpeg)).toBe(first);
    expect(await freshImage(a, jpeg)).not.toBe(first);
  });
});
