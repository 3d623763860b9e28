// The chat template, from tokenizer_config.json, chat_template.jinja or chat_template.json.
import type { GgufValue } from "@ingle/gguf";
import { z } from "zod";

import { MlxError } from "../errors.ts";
import { readJson, readText } from "../json-file.ts";
import { TEMPLATE_LENGTH_MAX } from "./tokenizer-json.ts";
import type { TokenizerConfig } from "./tokenizer-json.ts";

const KEY = "tokenizer.chat_template";
/** Includes UTF-8 and the escapes of JSON. */
const FILE_BYTES_MAX = 4 * TEMPLATE_LENGTH_MAX;

const TemplateFile = z.object({ chat_template: z.string().max(TEMPLATE_LENGTH_MAX) });

/** The keys of the default template and of further ones by name. A folder may have none. */
export async function chatTemplateKeys(
  folder: string,
  { chat_template: inConfig }: TokenizerConfig,
): Promise<[string, GgufValue][]> {
  const template = inConfig ?? (await readTemplate(folder));
  if (template === undefined) return [];
  if (typeof template === "string") return [[KEY, { type: "string", value: template }]];
  const named = template.map(
    ({ name, template: value }) => [name.replaceAll(/[^A-Za-z0-9]/g, "_"), value] as const,
  );
  const others = named.filter(([name]) => name !== "" && name !== "default");
  const keys = named
    .filter(([name]) => name === "default")
    .map(([, value]): [string, GgufValue] => [KEY, { type: "string", value }]);
  for (const [name, value] of others) keys.push([`${KEY}.${name}`, { type: "string", value }]);
  if (others.length > 0)
    keys.push(["tokenizer.chat_templates", { type: "string", values: others.map(([name]) => name) }]);
  return keys;
}

async function readTemplate(folder: string): Promise<string | undefined> {
  const text = await readText(folder, "chat_template.jinja", FILE_BYTES_MAX);
  if (text !== undefined) {
    if (text.length > TEMPLATE_LENGTH_MAX)
      throw new MlxError(
        "mlx_limit",
        `chat_template.jinja has ${text.length} characters; at most ${TEMPLATE_LENGTH_MAX} are allowed.`,
      );
    return text;
  }
  const json = await readJson(folder, "chat_template.json", FILE_BYTES_MAX);
  const file = TemplateFile.safeParse(json);
  return file.success ? file.data.chat_template : undefined;
}
