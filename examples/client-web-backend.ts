// A web backend that passes a stream on to its page, which reads it with the same client. The model server's address and key
// stay in the backend. Run: npx tsx examples/client-web-backend.ts
import { ChatStream, Ingle } from "@ingle/client";

const client = new Ingle({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });
const { model = "none" } = await client.server.readyz();

// The backend: a handler for any framework with web requests. If the page disconnects, the generation is cancelled.
async function handle(request: Request): Promise<Response> {
  const stream = await client.chat.completions.stream(
    { model, messages: [{ role: "user", content: await request.text() }], max_tokens: 64 },
    { signal: request.signal },
  );
  return new Response(stream.toReadableStream(), { headers: { "content-type": "text/event-stream" } });
}

// The page: here it calls the handler; in a browser it would fetch.
const { body } = await handle(
  new Request("http://page.example/", { method: "POST", body: "Count to five." }),
);
if (body === null) throw new Error("The backend sent nothing.");
const stream = ChatStream.fromReadableStream(body);
for await (const text of stream.texts()) process.stdout.write(text);
console.log();
