// The content of a tool's result for a model: its texts, and its images if the model sees images and they can be decoded.
import { decodeImage, type ContentPart } from "@ingle/engine";
import type { ToolOutput, ToolOutputPart } from "./tool-output.ts";

type DecodedImage = Extract<ContentPart, { type: "image" }>;

/** A text, or an image both as the tool has sent it and decoded. */
export type ModelPart =
  | Extract<ToolOutputPart, { type: "text" }>
  | (Extract<ToolOutputPart, { type: "image" }> & Pick<DecodedImage, "image">);

export interface ModelContentOptions {
  /** Whether the model sees images. Other models get a text in their place. */
  readsImages: boolean;
  signal?: AbortSignal | undefined;
}

/** Texts alone are joined to one. A failure begins with `Error:`. Rejects only with the signal's reason. */
export async function modelContent(
  { content, isError }: ToolOutput,
  options: ModelContentOptions,
): Promise<ModelPart[]> {
  const parts = await Promise.all(content.map((part) => toModelPart(part, options)));
  const all: ModelPart[] = isError ? [{ type: "text", text: "Error:" }, ...parts] : parts;
  const texts = all.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === all.length ? [{ type: "text", text: texts.join("\n") }] : all;
}

async function toModelPart(
  part: ToolOutputPart,
  { readsImages, signal }: ModelContentOptions,
): Promise<ModelPart> {
  if (part.type === "text") return part;
  if (!readsImages) return { type: "text", text: "[Left out: an image, which this model cannot see]" };
  try {
    return { ...part, image: await decodeImage(Buffer.from(part.data, "base64"), { signal }) };
  } catch (error) {
    signal?.throwIfAborted();
    return {
      type: "text",
      text: `[Left out: an image. ${error instanceof Error ? error.message : String(error)}]`,
    };
  }
}
