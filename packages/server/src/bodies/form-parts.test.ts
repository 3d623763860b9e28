import fc from "fast-check";
import { expect, it } from "vitest";
import { boundaryIn, splitForm } from "./form-parts.ts";

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function readParts(bytes: Buffer, boundary: string, size = bytes.length) {
  const parts: { name: string; fileName: string | undefined; content: string }[] = [];
  for await (const piece of splitForm(inChunks(bytes, size), boundary)) {
    if ("head" in piece) parts.push({ ...piece.head, content: "" });
    else (parts.at(-1) ?? { content: "" }).content += piece.content.toString("latin1");
  }
  return parts;
}

it("finds the parts that Node has written, however they arrive", async () => {
  const content = fc.stringMatching(/^[a-z\r\n-]{0,40}$/);
  await fc.assert(
    fc.asyncProperty(content, content, fc.integer({ min: 1, max: 50 }), async (text, file, size) => {
      const form = new FormData();
      form.append("file", new File([file], "in.jsonl"));
      form.append("purpose", text);
      form.append("expires_after[anchor]", "");
      const response = new Response(form);
      const boundary = boundaryIn(response.headers.get("content-type") ?? "");
      const bytes = Buffer.from(await response.arrayBuffer());
      const written = text.replaceAll(/\r\n|\r|\n/g, "\r\n"); // as browsers do
      expect(await readParts(bytes, boundary, size)).toEqual([
        { name: "file", fileName: "in.jsonl", content: file },
        { name: "purpose", fileName: undefined, content: written },
        { name: "expires_after", fileName: undefined, content: "" },
      ]);
    }),
    { numRuns: 50 },
  );
});

const head = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n';
it.each([
  ["is empty", ""],
  ["has no end", `${head}x`],
  ["has an unfinished end", `${head}x\r\n--b`],
  ["has a part without a name", "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--"],
  ["has too many parts", `${`${head}\r\n`.repeat(33)}--b--`],
  ["has endless headers", `--b\r\nX: ${"x".repeat(9_000)}`],
])("refuses a form that %s", async (_, text) => {
  await expect(readParts(Buffer.from(text), "b")).rejects.toMatchObject({ code: "invalid_request" });
});
