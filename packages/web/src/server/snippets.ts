// Snippets to paste into other programs, with the server's address and a model id. docs/clients.md shows the same snippets, which a
// test verifies. Pure.

export interface SnippetTarget {
  /** The server's address without a trailing slash, such as `http://127.0.0.1:1337`. */
  url: string;
  model: string;
  /** Whether requests require a key. */
  needsKey: boolean;
  /** The model's context; null if it is not known. Programs that are not told assume a larger one. */
  contextLength: number | null;
}

interface Snippet {
  id: string;
  /** The name of the program, which is not translated. */
  title: string;
  language: "sh" | "js" | "python" | "yaml";
  code: string;
}

/** A placeholder for the reader's key. A server without keys accepts any text. */
const keyPlaceholder = "YOUR_KEY";
const anyKey = "any text";

const question = "What is the capital of France?";

/** All snippets, the simplest first. */
export function snippets(target: SnippetTarget): Snippet[] {
  return [
    { id: "curl", title: "curl", language: "sh", code: curl(target) },
    { id: "openai-js", title: "openai (JavaScript)", language: "js", code: openaiJs(target) },
    { id: "openai-python", title: "openai (Python)", language: "python", code: openaiPython(target) },
    { id: "ai-sdk", title: "Vercel AI SDK", language: "js", code: aiSdk(target) },
    { id: "ingle-client", title: "@ingle/client", language: "js", code: ingleClient(target) },
    { id: "claude-code", title: "Claude Code", language: "sh", code: claudeCode(target) },
    { id: "continue", title: "Continue", language: "yaml", code: continueYaml(target) },
    { id: "open-webui", title: "Open WebUI", language: "sh", code: openWebui(target) },
  ];
}

function shownKey({ needsKey }: SnippetTarget): string {
  return needsKey ? keyPlaceholder : anyKey;
}

function curl({ url, model, needsKey }: SnippetTarget): string {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: question }] });
  return [
    `curl ${shellWord(`${url}/v1/chat/completions`)}`,
    ...(needsKey ? [`-H 'Authorization: Bearer ${keyPlaceholder}'`] : []),
    `-H 'Content-Type: application/json'`,
    `-d ${shellWord(body)}`,
  ].join(" \\\n  ");
}

function openaiJs(target: SnippetTarget): string {
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${quoted(`${target.url}/v1`)}, apiKey: ${quoted(shownKey(target))} });
const reply = await client.chat.completions.create({
  model: ${quoted(target.model)},
  messages: [{ role: "user", content: "${question}" }],
});
console.log(reply.choices[0].message.content);`;
}

function openaiPython(target: SnippetTarget): string {
  return `from openai import OpenAI

client = OpenAI(base_url=${quoted(`${target.url}/v1`)}, api_key=${quoted(shownKey(target))})
reply = client.chat.completions.create(
    model=${quoted(target.model)},
    messages=[{"role": "user", "content": "${question}"}],
)
print(reply.choices[0].message.content)`;
}

function aiSdk({ url, model, needsKey }: SnippetTarget): string {
  return [
    `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";`,
    `import { generateText } from "ai";`,
    ``,
    `const ingle = createOpenAICompatible({`,
    `  name: "ingle",`,
    `  baseURL: ${quoted(`${url}/v1`)},`,
    ...(needsKey ? [`  apiKey: ${quoted(keyPlaceholder)},`] : []),
    `  supportsStructuredOutputs: true, // generateObject then follows the schema token by token`,
    `  includeUsage: true,`,
    `});`,
    `const { text } = await generateText({ model: ingle.chatModel(${quoted(model)}), prompt: "Hello!" });`,
  ].join("\n");
}

function ingleClient({ url, model, needsKey }: SnippetTarget): string {
  const key = needsKey ? `, apiKey: ${quoted(keyPlaceholder)}` : "";
  return `import { Ingle } from "@ingle/client";

const client = new Ingle({ baseUrl: ${quoted(url)}${key} });
const stream = await client.chat.completions.stream({
  model: ${quoted(model)},
  messages: [{ role: "user", content: "${question}" }],
});
for await (const text of stream.texts()) process.stdout.write(text);`;
}

function claudeCode(target: SnippetTarget): string {
  const model = shellWord(target.model);
  const { contextLength } = target;
  return [
    `export ANTHROPIC_BASE_URL=${shellWord(target.url)}`,
    `export ANTHROPIC_AUTH_TOKEN=${shellWord(shownKey(target))}`,
    `export ANTHROPIC_MODEL=${model}`,
    `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}`,
    ...(contextLength === null ? [] : [`export CLAUDE_CODE_MAX_CONTEXT_TOKENS=${contextLength}`]),
    "claude",
  ].join("\n");
}

function continueYaml(target: SnippetTarget): string {
  return `name: Ingle
version: 0.0.1
schema: v1
models:
  - name: ${quoted(target.model)}
    provider: openai
    model: ${quoted(target.model)}
    apiBase: ${quoted(`${target.url}/v1`)}
    apiKey: ${quoted(shownKey(target))}
    roles: [chat, edit, apply]`;
}

function openWebui(target: SnippetTarget): string {
  return `export OPENAI_API_BASE_URL=${shellWord(`${target.url}/v1`)}
export OPENAI_API_KEY=${shellWord(shownKey(target))}
open-webui serve --port 3000`;
}

/** A string literal that is valid in JavaScript, Python and YAML. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A single word for sh, quoted if necessary. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
