// A conversation with memory. Run: npx tsx examples/chat-session.ts [model.gguf]
import { ChatSession, ensureStarterModel, load } from "@ingle/engine";

const modelPath = process.argv[2] ?? (await ensureStarterModel());
await using loaded = await load(modelPath);
const session = new ChatSession(loaded.model, {
  system: "You answer in one sentence.",
  temperature: 0,
  maxTokens: 100,
});

for (const question of ["My name is Ada. What is a compiler?", "What is my name?"]) {
  console.log(`> ${question}`);
  // The signal cancels a reply that takes too long; the conversation stays as it was before the question.
  for await (const text of session.send(question, { signal: AbortSignal.timeout(60_000) }))
    process.stdout.write(text);
  console.log();
}
