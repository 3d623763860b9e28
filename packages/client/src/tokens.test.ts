import type { TokenPiece } from "@ingle/protocol";
import { expect, expectTypeOf, test } from "vitest";

import { json } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";

const { server, client } = await serverAndClient();

test("tokens are ids, or have their texts if requested", async () => {
  server.respond(
    json({ tokens: [5, 7], count: 2, max_model_len: 9 }),
    json({ tokens: [{ id: 5, piece: "Hi" }], count: 1, max_model_len: 9 }),
  );
  const ids = await client.tokenize({ content: "Hi!" });
  expectTypeOf(ids.tokens).toEqualTypeOf<number[]>();
  expect(ids).toEqual({ tokens: [5, 7], count: 2, max_model_len: 9 });
  const pieces = await client.tokenize({ content: "Hi", with_pieces: true });
  expectTypeOf(pieces.tokens).toEqualTypeOf<TokenPiece[]>();
  expect(pieces.tokens).toEqual([{ id: 5, piece: "Hi" }]);
  expect(server.seen.map(({ url }) => url)).toEqual(["/v1/tokenize", "/v1/tokenize"]);
});

test("tokens are converted back to text", async () => {
  server.respond(json({ content: "Hi!", prompt: "Hi!" }));
  expect((await client.detokenize({ tokens: [5, 7] })).content).toBe("Hi!");
  expect(server.seen[0]).toMatchObject({ url: "/v1/detokenize", body: '{"tokens":[5,7]}' });
});

test("a response of another shape is an error", async () => {
  server.respond(json({ ok: true }));
  await expect(client.tokenize({ content: "Hi" })).rejects.toMatchObject({ name: "ApiError" });
  await expect(client.detokenize({ tokens: [] })).rejects.toMatchObject({ name: "ApiError" });
});
