// Reads a file with chats: Ingle's own export, or one of LM Studio, Open WebUI or ChatGPT, recognized by its content. Nothing is taken from
// an export of Ingle that has an invalid part; of other programs', each conversation is read by itself. Loaded with the first import.
import { type ArchivedChat, type ChatArchive, readArchive } from "../conversations/conversation.ts";
import { readChatGpt } from "./chatgpt-export.ts";
import { type ForeignChat, toArchivedChat, LeftOutCounter, type LeftOutCounts } from "./imported-chat.ts";
import { readLmStudio } from "./lm-studio-export.ts";
import { readOpenWebUi } from "./open-webui-export.ts";

/** The program that wrote an export. */
export type ExportSource = "Ingle" | "LM Studio" | "Open WebUI" | "ChatGPT";

export interface ReadExport {
  source: ExportSource;
  /** How many there are. */
  count: number;
  /** Reads the conversations one by one; undefined for one that cannot be read, or has no message. */
  chats: () => Generator<ArchivedChat | undefined>;
  /** What the conversations that were read so far have and Ingle does not take over. */
  leftOut: () => LeftOutCounts;
  folders: ChatArchive["folders"];
  presets: ChatArchive["presets"];
}

/** The longest text that every browser can hold as one string is about twice as long. */
export const importBytesMax = 256 * 1024 * 1024;

type Reader = (value: unknown, leftOut: LeftOutCounter) => ForeignChat | undefined;

/** Undefined: not JSON, or of no program that is known. */
export function readExport(text: string, now: number): ReadExport | undefined {
  const value = parsed(text);
  if (isObject(value) && value["format"] === "ingle-chats") return ofIngle(value);
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const source = list.map(detectSource).find((found) => found !== undefined);
  return source === undefined ? undefined : ofOthers(source, list, now);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    // SyntaxError: not JSON.
    return undefined;
  }
}

function ofIngle(value: unknown): ReadExport | undefined {
  const archive = readArchive(value);
  if (archive === undefined) return undefined;
  const { chats, folders, presets } = archive;
  return {
    source: "Ingle",
    count: chats.length,
    chats: function* each() {
      yield* chats;
    },
    leftOut: () => ({}),
    folders,
    presets,
  };
}

const readers: Record<Exclude<ExportSource, "Ingle">, Reader> = {
  ChatGPT: readChatGpt,
  "Open WebUI": readOpenWebUi,
  "LM Studio": readLmStudio,
};

function ofOthers(source: keyof typeof readers, list: readonly unknown[], now: number): ReadExport {
  const counter = new LeftOutCounter();
  return {
    source,
    count: list.length,
    chats: function* each() {
      for (const value of list) {
        const chat = readers[source](value, counter);
        yield chat === undefined ? undefined : toArchivedChat(chat, { now, source, leftOut: counter });
      }
    },
    leftOut: () => counter.counts,
    folders: [],
    presets: [],
  };
}

function detectSource(value: unknown): keyof typeof readers | undefined {
  if (!isObject(value)) return undefined;
  if (isObject(value["mapping"])) return "ChatGPT";
  const chat = value["chat"];
  if (isObject(chat) && (isObject(chat["history"]) || Array.isArray(chat["messages"]))) return "Open WebUI";
  if (isObject(value["history"]) && isObject(value["history"]["messages"])) return "Open WebUI";
  const messages: unknown = value["messages"];
  const isLmStudio =
    Array.isArray(messages) &&
    messages.some((message) => isObject(message) && Array.isArray(message["versions"]));
  return isLmStudio ? "LM Studio" : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
