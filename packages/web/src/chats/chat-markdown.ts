// A conversation as a markdown document: what is on its path, without the other branches. Pure.
import type { Message } from "./conversation.ts";

interface DocumentTexts {
  title: string;
  you: string;
  file: (name: string) => string;
}

export function chatMarkdown(path: readonly Message[], { title, you, file }: DocumentTexts): string {
  const parts = path.map((message) => {
    if (message.role === "assistant") return `## ${message.reply.model}\n\n${message.text.trim()}`;
    const files = message.attachments.map(({ name }) => `*${file(name)}*`);
    return [`## ${you}`, ...files, message.text.trim()].filter((part) => part !== "").join("\n\n");
  });
  return `${[`# ${title}`, ...parts].join("\n\n")}\n`;
}

/** A name for its file: letters and digits of any script, and dashes for all else. */
export function fileNameOf(title: string, extension: string): string {
  const name = title
    .normalize()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 60);
  return `${name === "" ? "chat" : name}.${extension}`;
}
