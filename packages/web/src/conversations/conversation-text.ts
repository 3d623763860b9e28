// Converts a conversation to text: its title, its Markdown document, and its file name. Pure.
import type { Message } from "./conversation.ts";

/** Maximum length of a title, in characters. The list cuts titles further. */
const titleLengthMax = 80;

/** The title for a first message: its first line with text, without Markdown, cut at a word; empty if there is none. */
export function toTitle(text: string): string {
  const line = text
    .split("\n")
    .map((candidate) =>
      candidate
        .replaceAll(/[`*_#>|[\]]+/g, " ")
        .replaceAll(/\s+/g, " ")
        .trim(),
    )
    .find((candidate) => candidate !== "");
  if (line === undefined) return "";
  if (line.length <= titleLengthMax) return line;
  const cut = line.slice(0, titleLengthMax);
  const space = cut.lastIndexOf(" ");
  return `${cut.slice(0, space > titleLengthMax / 2 ? space : titleLengthMax)}…`;
}

/** The messages of a path as a Markdown document. `you` is the heading of the user's messages. */
export function chatMarkdown(
  path: readonly Message[],
  { title, you }: { title: string; you: string },
): string {
  const parts = path.map((message) => {
    if (message.role === "assistant") {
      const { model, steps = [] } = message.reply;
      const before = steps.flatMap(({ text, calls }) => [
        text.trim(),
        ...calls.map(({ name }) => `*${name}*`),
      ]);
      return [`## ${model}`, ...before, message.text.trim()].filter((part) => part !== "").join("\n\n");
    }
    const files = message.attachments.map(({ name }) => `*${name}*`);
    return [`## ${you}`, ...files, message.text.trim()].filter((part) => part !== "").join("\n\n");
  });
  return `${[`# ${title}`, ...parts].join("\n\n")}\n`;
}

/** A file name for a title: its letters and digits, with dashes for everything else. */
export function toFileName(title: string, extension: string): string {
  const name = title
    .normalize()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 60);
  return `${name === "" ? "chat" : name}.${extension}`;
}
