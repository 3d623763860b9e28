// Generates with a LoRA adapter, in this process. Run: npx tsx examples/adapters.ts MODEL ADAPTER.gguf
import { load } from "@ingle/engine";

const [modelId, path] = process.argv.slice(2);
if (modelId === undefined || path === undefined) {
  console.log("Usage: npx tsx examples/adapters.ts MODEL ADAPTER.gguf");
  process.exit();
}

await using loaded = await load(modelId, { adapters: [{ name: "law", path }] });

// Without `adapters`, the model replies alone.
const request = { prompt: "Habeas corpus means", maxTokens: 64, adapters: [{ id: "law", scale: 0.8 }] };
const { text } = await loaded.model.generate(request);
console.log(text);
