// Only one part of the client, for a smaller bundle on a web page. Run: npx tsx examples/client-parts.ts
import { connect, createChatCompletions, createServerState } from "@ingle/client";

const server = connect({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });
const { model = "none" } = await createServerState(server).readyz();

const chat = createChatCompletions(server);
const stream = await chat.stream({ model, messages: [{ role: "user", content: "Hello" }], max_tokens: 32 });
console.log(await stream.finalText());
