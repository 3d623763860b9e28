// Parses a reply into a typed value: the server enforces the schema, the client validates it.
// Run: npx tsx examples/client-values.ts
import { Ingle, ParseError } from "@ingle/client";
import { z } from "zod";

const client = new Ingle({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });
const { model } = await client.server.readyz();
if (model === undefined) throw new Error("The server has no model yet.");

const City = z.object({
  name: z.string().max(40),
  country: z.string().max(40),
  kind: z.enum(["capital", "port", "other"]),
  millions: z.int().min(0).max(40),
});

const request = {
  model,
  messages: [{ role: "user" as const, content: "Describe Paris." }],
  max_tokens: 256,
};
try {
  const { value, completion } = await client.chat.completions.parse(request, City);
  console.log(`${value.name}: ${value.kind}, ${value.millions} million`);
  console.log(`${completion.usage.completion_tokens} tokens`);
} catch (error) {
  if (!ParseError.is(error)) throw error;
  console.log(`${error.code}: ${error.message}\n${error.text}`);
}
