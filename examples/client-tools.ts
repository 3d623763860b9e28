// Lets the model call functions of this program. Run: npx tsx examples/client-tools.ts
import { Ingle, runTools, tool } from "@ingle/client";
import { z } from "zod";

const client = new Ingle({ baseUrl: process.env["INGLE_URL"] ?? "http://127.0.0.1:1337" });
const { model } = await client.server.readyz();
if (model === undefined) throw new Error("The server has no model yet.");

const weather = tool({
  name: "get_weather",
  description: "The weather of a city, now",
  parameters: z.object({ city: z.enum(["Rome", "Oslo"]) }),
  run: ({ city }) => ({ city, sky: city === "Rome" ? "clear" : "rain", celsius: 19 }),
});

const { text, messages } = await runTools(
  client.chat.completions,
  {
    model,
    messages: [{ role: "user", content: "Shall I take an umbrella in Rome?" }],
    max_tokens: 256,
  },
  [weather],
  { roundsMax: 5 },
);
for (const message of messages) if (message.role === "tool") console.log("tool:", message.content);
console.log(text);
