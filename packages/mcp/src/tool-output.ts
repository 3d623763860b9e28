// The result of a tool's call: texts and images, within limits. What a model cannot read becomes a short text that says so.
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { McpLimits } from "./mcp-limits.ts";

export type ToolOutputPart =
  | { type: "text"; text: string }
  /** `data` is a file in base64, which may be damaged or not be an image at all. */
  | { type: "image"; data: string; mimeType: string };

export interface ToolOutput {
  content: ToolOutputPart[];
  /** Whether the tool says that it failed; its content then tells why. */
  isError: boolean;
}

export function toToolOutput({ content, structuredContent, isError }: CallToolResult): ToolOutput {
  const isOnlyStructured = content.length === 0 && structuredContent !== undefined;
  const parts = isOnlyStructured ? [textPart(JSON.stringify(structuredContent))] : content.map(toPart);
  return { content: parts, isError: isError === true };
}

/** The output with as many characters and images as the limits allow, and a text about what is left out. */
export function withinLimits(
  { content, isError }: ToolOutput,
  limits: Pick<McpLimits, "resultCharacters" | "resultImages">,
): ToolOutput {
  return { content: withoutMoreText(withoutMoreImages(content, limits), limits), isError };
}

function textPart(text: string): ToolOutputPart {
  return { type: "text", text };
}

function toPart(block: ContentBlock): ToolOutputPart {
  switch (block.type) {
    case "text":
      return textPart(block.text);
    case "image":
      return { type: "image", data: block.data, mimeType: block.mimeType };
    case "audio":
      return textPart(`[Left out: audio, ${block.mimeType}]`);
    case "resource_link":
      return textPart(`[Link to ${block.name}: ${block.uri}]`);
    case "resource":
      return "text" in block.resource
        ? textPart(block.resource.text)
        : textPart(`[Left out: ${block.resource.uri}, ${block.resource.mimeType ?? "of unknown type"}]`);
  }
}

function withoutMoreImages(
  parts: readonly ToolOutputPart[],
  { resultImages }: Pick<McpLimits, "resultImages">,
): ToolOutputPart[] {
  let images = 0;
  return parts.map((part) => {
    if (part.type !== "image") return part;
    images += 1;
    return images <= resultImages ? part : textPart(`[Left out: image ${images} of this result]`);
  });
}

function withoutMoreText(
  parts: readonly ToolOutputPart[],
  { resultCharacters }: Pick<McpLimits, "resultCharacters">,
): ToolOutputPart[] {
  const all = parts.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
  if (all <= resultCharacters) return [...parts];
  let left = resultCharacters;
  const kept = parts.flatMap((part) => {
    if (part.type !== "text") return [part];
    const text = part.text.slice(0, left);
    left -= text.length;
    return text === "" ? [] : [textPart(text)];
  });
  return [
    ...kept,
    textPart(`[Cut: the result has ${all} characters, of which these are the first ${resultCharacters}.]`),
  ];
}
