// docs/comparison.md: what it says of Ingle is what the server does.
import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import { describe, expect, it } from "vitest";
import { fetchDocument } from "../test/documented.ts";
import type { ServerFlags } from "./config.ts";
import { scriptedApp, scriptedId } from "../test/harness/scripted-server.ts";

const page = await readFile(new URL("../../../docs/comparison.md", import.meta.url), "utf8");

/** The rows of the table with this first column: its name, and the cell of Ingle. */
function parseRows(head: string): [name: string, cell: string][] {
  const [, table = ""] = page.split(`| ${head} | Ingle |`);
  const [rows = ""] = table.split("\n\n");
  return [...rows.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map(([, name = "", cell = ""]) => [name, cell]);
}

it("has every row with the cells of all five servers", () => {
  const rows = page.split("\n").filter((line) => /^\| `[^-]/.test(line));
  expect(rows.length).toBeGreaterThan(70);
  for (const row of rows) {
    const cells = row
      .split(" | ")
      .slice(1)
      .map((cell) => cell.replace(/ \|$/, ""));
    expect(cells, row).toHaveLength(5);
    expect(
      cells.slice(1).filter((cell) => !["yes", "no", "?"].includes(cell)),
      row,
    ).toEqual([]);
  }
});

describe("routes", async () => {
  /** With each route's path parameters under one name. */
  const listRoutes = async (flags: ServerFlags): Promise<Set<string>> => {
    await using server = await scriptedApp({ flags });
    return new Set(
      server.app.routeList.map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, "{id}")}`),
    );
  };
  const usual = await listRoutes({});
  const withFlag: [flag: string, routes: Set<string>][] = [
    ["`--llama-server-api`", await listRoutes({ llamaServerApi: true })],
    ["`--ollama-api`", await listRoutes({ ollamaApi: true })],
    ["`--lm-studio-api`", await listRoutes({ lmStudioApi: true })],
  ];

  it.each(parseRows("route"))("%s: %s", (route, cell) => {
    const [flag = "no"] = withFlag.find(([, routes]) => routes.has(route)) ?? [];
    expect(cell).toBe(usual.has(route) ? "yes" : flag);
  });
});

const tool = { type: "function", function: { name: "now", parameters: { type: "object", properties: {} } } };
const schema = { type: "object", properties: { a: { type: "integer" } } };

/** A value that asks for something, where `true` would not be one. */
const chatValues: Record<string, unknown> = {
  temperature: 0.5,
  top_p: 0.9,
  top_k: 10,
  min_p: 0.1,
  presence_penalty: 0.5,
  frequency_penalty: 0.5,
  repeat_penalty: 1.1,
  repetition_penalty: 1.1,
  repeat_last_n: 16,
  typical_p: 0.9,
  top_n_sigma: 1,
  n_probs: 2,
  xtc_probability: 0.5,
  dynatemp_range: 0.5,
  dry_multiplier: 0.8,
  mirostat: 2,
  samplers: ["top_k"],
  min_tokens: 2,
  max_tokens: 5,
  max_completion_tokens: 5,
  stop: "x",
  seed: 1,
  logit_bias: { "5": 1 },
  stream_options: { include_usage: true },
  n: 2,
  response_format: { type: "json_object" },
  json_schema: schema,
  grammar: 'root ::= "a"',
  structured_outputs: { json: schema },
  tools: [tool],
  tool_choice: "none",
  parallel_tool_calls: false,
  functions: [tool.function],
  reasoning_effort: "low",
  thinking_budget_tokens: 5,
  thinking_token_budget: 5,
  reasoning_budget_message: "Enough.",
  chat_template: "{{ messages }}",
  chat_template_kwargs: { thinking: true },
  cache_prompt: false,
  cache_salt: "mine",
  lora: [],
  prediction: { type: "content", content: "Hi" },
  metadata: { a: "b" },
  service_tier: "flex",
};
/** What a field cannot be without. */
const chatNeeds: Record<string, object> = {
  top_logprobs: { logprobs: true },
  json_schema: { response_format: { type: "json_object" } },
  tool_choice: { tools: [tool] },
  parallel_tool_calls: { tools: [tool] },
  stream_options: { stream: true },
  continue_final_message: {
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "H" },
    ],
  },
};
const chatBody = { messages: [{ role: "user", content: "Hi" }] };

const completionValues: Record<string, unknown> = { logprobs: 2, best_of: 2 };

const responseValues: Record<string, unknown> = {
  instructions: "Be brief.",
  tools: [{ type: "function", name: "now", parameters: schema }],
  reasoning: { effort: "low" },
  truncation: "auto",
};

const messageValues: Record<string, unknown> = {
  system: "Be brief.",
  temperature: 0.5,
  top_p: 0.9,
  top_k: 10,
  min_p: 0.1,
  stop_sequences: ["x"],
  tools: [{ name: "now", input_schema: schema }],
  tool_choice: { type: "none" },
  thinking: { type: "enabled" },
  output_config: { effort: "low" },
  metadata: { user_id: "a" },
  lora: [],
};

const embeddingValues: Record<string, unknown> = { encoding_format: "base64", dimensions: 2 };

/** What the server does with a field, by the words of the page. */
async function readSupport(app: FastifyInstance, path: string, field: string, body: object): Promise<string> {
  const response = await app.inject({ method: "POST", url: path, payload: { model: scriptedId, ...body } });
  if (response.statusCode === 400) {
    const { error } = response.json<{ error: { param: string | null } }>();
    expect(error.param, response.body).toBe(field);
    return "refused";
  }
  expect(response.statusCode, `${field}: ${response.body}`).toBe(200);
  const { paths, components } = await fetchDocument(app);
  const reference = paths[path]?.["post"]?.requestBody?.content["application/json"]?.schema.$ref;
  const { properties = {} } = components.schemas[reference?.split("/").at(-1) ?? ""] ?? {};
  if (!Object.hasOwn(properties, field)) return "no";
  const ignored = String(response.headers["x-ingle-ignored"] ?? "").split(", ");
  return ignored.includes(field) ? "ignored" : "yes";
}

describe("fields", () => {
  it.each(parseRows("field of `POST /v1/chat/completions`"))(
    "%s of a chat completion: %s",
    async (field, cell) => {
      await using server = await scriptedApp();
      const value = field in chatValues ? chatValues[field] : field === "top_logprobs" ? 2 : true;
      const body = { ...chatBody, ...chatNeeds[field], [field]: value };
      expect(await readSupport(server.app, "/v1/chat/completions", field, body)).toBe(cell);
    },
  );

  it.each(parseRows("field of `POST /v1/completions`"))("%s of a completion: %s", async (field, cell) => {
    await using server = await scriptedApp();
    const body = { prompt: "Hi", [field]: completionValues[field] ?? true };
    expect(await readSupport(server.app, "/v1/completions", field, body)).toBe(cell);
  });

  it.each(parseRows("field of `POST /v1/messages`"))("%s of a message: %s", async (field, cell) => {
    await using server = await scriptedApp();
    const body = { max_tokens: 5, ...chatBody, [field]: messageValues[field] ?? true };
    expect(await readSupport(server.app, "/v1/messages", field, body)).toBe(cell);
  });

  it.each(parseRows("field of `POST /v1/embeddings`"))("%s of embeddings: %s", async (field, cell) => {
    await using server = await scriptedApp();
    const body = { input: "Hi", [field]: embeddingValues[field] };
    expect(await readSupport(server.app, "/v1/embeddings", field, body)).toBe(cell);
  });

  it.each(parseRows("field of `POST /v1/responses`"))("%s of a response: %s", async (field, cell) => {
    await using server = await scriptedApp();
    const createId = async (url: string, body: object): Promise<string> =>
      (await server.app.inject({ method: "POST", url, payload: { model: scriptedId, ...body } })).json().id;
    const stored: Record<string, unknown> = {
      previous_response_id: await createId("/v1/responses", { input: "Hello" }),
      conversation: await createId("/v1/conversations", {}),
    };
    const body = { input: "Hi", [field]: stored[field] ?? responseValues[field] ?? true };
    expect(await readSupport(server.app, "/v1/responses", field, body)).toBe(cell);
  });
});
