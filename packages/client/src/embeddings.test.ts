import fc from "fast-check";
import { expect, expectTypeOf, test } from "vitest";

import { json } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";
import { IngleError } from "./errors.ts";

const body = { model: "tiny", input: ["Hello", "world"] };

const { server, client } = await serverAndClient();

function respond(...vectors: unknown[]): void {
  const data = vectors.map((embedding, index) => ({ object: "embedding", index, embedding }));
  server.respond(json({ object: "list", model: "tiny", data, usage: { prompt_tokens: 2, total_tokens: 2 } }));
}

/** As a server encodes it: little-endian, on any machine. */
function toBase64(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, value] of numbers.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}

test("requests base64 and returns 32-bit floats, with the rest of the response unchanged", async () => {
  respond(toBase64([0.5, -2, 1e-20]), toBase64([1, 0, 3]));
  const list = await client.embeddings.create(body);
  expectTypeOf(list.data[0]!.embedding).toEqualTypeOf<Float32Array>();
  expect(list.data.map(({ embedding }) => embedding)).toEqual([
    Float32Array.of(0.5, -2, 1e-20),
    Float32Array.of(1, 0, 3),
  ]);
  expect(list).toMatchObject({ object: "list", model: "tiny", usage: { prompt_tokens: 2 } });
  expect(server.seen[0]).toMatchObject({ method: "POST", url: "/v1/embeddings" });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ ...body, encoding_format: "base64" });
});

test("returns numbers if the request says float", async () => {
  respond([0.1, 0.2]);
  const { data } = await client.embeddings.create({ ...body, encoding_format: "float" });
  expectTypeOf(data[0]!.embedding).toEqualTypeOf<number[]>();
  expect(data[0]?.embedding).toEqual([0.1, 0.2]);
});

test("returns the requested form, whichever form the server sends", async () => {
  respond([0.5, 2]);
  expect((await client.embeddings.create(body)).data[0]?.embedding).toEqual(Float32Array.of(0.5, 2));
  respond(toBase64([0.5, 2]));
  const numbers = await client.embeddings.create({ ...body, encoding_format: "float" });
  expect(numbers.data[0]?.embedding).toEqual([0.5, 2]);
});

test("an invalid vector is an error", async () => {
  for (const wrong of ["not base64!", "AAAA", 7, null]) {
    respond(wrong);
    await expect(client.embeddings.create(body)).rejects.toSatisfy(IngleError.is);
  }
});

test("every float arrives unchanged", async () => {
  const floats = fc.array(fc.float({ noNaN: true }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(floats, async (numbers) => {
      respond(toBase64(numbers));
      const { data } = await client.embeddings.create(body);
      expect(data[0]?.embedding).toEqual(Float32Array.from(numbers));
    }),
    { numRuns: 50 },
  );
});
