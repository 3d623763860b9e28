// Opens the store of chats that --chat-store names.
import path from "node:path";
import { ConfigError } from "../settings/resolve.ts";
import { ChatStore } from "./chat-store.ts";

/** The file in the folder for settings. */
const fileName = "chats.db";

export interface ChatPlace {
  /** `app`: the file in the user's folder; `browser`: none; otherwise a path. */
  place: string;
  configDir: string;
  /** Called with a sentence if the usual file cannot be used: the browser keeps the chats then. */
  onWarning: (sentence: string) => void;
}

/** Undefined if the browser keeps the chats. Throws ConfigError for a file that was named and cannot be used. */
export async function openChats({ place, configDir, onWarning }: ChatPlace): Promise<ChatStore | undefined> {
  if (place === "browser") return undefined;
  if (place !== "app") return await ChatStore.open(place);
  try {
    return await ChatStore.open(path.join(configDir, fileName));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    onWarning(`${error.message}. Until then, each browser keeps its own chats.`);
    return undefined;
  }
}
