// A chat template in place of the one in a model's file.
import { open } from "node:fs/promises";
import { z } from "zod";
import { invalidRequest } from "../base/errors.ts";

/** In bytes of UTF-8; the longest known template has 17 kB. */
const chatTemplateBytesMax = 64 * 1024;

const rule =
  "must be a Jinja template, such as one with {{ messages }}; of llama.cpp's names, only chatml is known";

/** `chatml` is llama.cpp's name for its default template. It has other names too, but no templates in Jinja for them. */
export const ChatTemplate = z
  .string()
  .min(1, "must not be empty")
  .refine(
    (text) => Buffer.byteLength(text) <= chatTemplateBytesMax,
    `must have at most ${chatTemplateBytesMax} bytes`,
  )
  .refine((text) => text === "chatml" || /\{[{%]/.test(text), rule);

export const chatTemplateOptions = {
  /** A template in Jinja in place of the model's own, at most 64 KiB. Default: the model's. */
  chatTemplate: ChatTemplate.optional(),
  /** A file with such a template. `chatTemplate` takes precedence. */
  chatTemplateFile: z.string().min(1).optional(),
};

/** Empty for the model's own. Throws `invalid_request`. */
export async function readChatTemplate({
  chatTemplate,
  chatTemplateFile: path,
}: {
  chatTemplate?: string | undefined;
  chatTemplateFile?: string | undefined;
}): Promise<string> {
  if (chatTemplate !== undefined) return chatTemplate;
  if (path === undefined) return "";
  const checked = ChatTemplate.safeParse(await readTemplate(path));
  if (checked.success) return checked.data;
  throw invalidRequest("chatTemplateFile", `${checked.error.issues[0]?.message ?? "cannot be used"}.`);
}

/** Of a longer file, the start, which is too long. */
async function readTemplate(path: string): Promise<string> {
  try {
    await using file = await open(path, "r");
    const bytes = Buffer.alloc(chatTemplateBytesMax + 1);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.toString("utf8", 0, bytesRead);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalidRequest("chatTemplateFile", `it cannot be read: ${reason}.`, cause);
  }
}
