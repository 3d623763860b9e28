// The chats of the app's page in an SQLite file: records of JSON text that only the page reads. Several browsers may change them at the
// same time: the changes of one request are one transaction, with conditions, and every page hears of them.
import {
  type ChatChange,
  type ChatChangesRequest,
  type ChatChangesResult,
  type ChatNote,
  type ChatRecord,
  type ChatRecordQuery,
  type ChatRecordsQuery,
  ChatRecordKind,
} from "@ingle/protocol";
import { toNumbers, SqliteFile } from "../stored/sqlite-file.ts";
import { WireError } from "../wire-error.ts";
import { ChatFeed } from "./chat-feed.ts";
import path from "node:path";
import { ConfigError } from "../settings/resolve.ts";

const migrations: readonly string[] = [
  `CREATE TABLE chat_records (
     kind TEXT NOT NULL,
     id TEXT NOT NULL,
     conversation_id TEXT, -- of messages and files
     revision INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     text TEXT NOT NULL,
     PRIMARY KEY (kind, id)
   ) STRICT;
   CREATE INDEX inside ON chat_records (conversation_id, kind) WHERE conversation_id IS NOT NULL;
   CREATE TABLE chat_totals (bytes INTEGER NOT NULL, revision INTEGER NOT NULL) STRICT;
   INSERT INTO chat_totals VALUES (0, 0);
   CREATE TRIGGER chat_added AFTER INSERT ON chat_records
     BEGIN UPDATE chat_totals SET bytes = bytes + new.bytes; END;
   CREATE TRIGGER chat_removed AFTER DELETE ON chat_records
     BEGIN UPDATE chat_totals SET bytes = bytes - old.bytes; END;`,
];

/** "chat", so that a file of stored responses is not taken for one of chats. */
const applicationId = 0x63_68_61_74;

/** Maximum size of all chats: decades of text, or many thousands of photos. A page that writes in a loop must not fill the disk. */
const bytesMaxDefault = 16 * 1024 ** 3;

const columns = "kind, id, conversation_id, revision, text";

type Changed = Pick<ChatRecord, "kind" | "id" | "conversation_id">;
type Put = Extract<ChatChange, { op: "put" }>;

export class ChatStore implements Disposable {
  /** What the pages hear. */
  readonly feed = new ChatFeed();
  readonly #file: SqliteFile;
  readonly #bytesMax: number;

  private constructor(file: SqliteFile, bytesMax: number) {
    this.#file = file;
    this.#bytesMax = bytesMax;
  }

  /** Throws ConfigError for a file that cannot be used. */
  static async open(file: string, { bytesMax = bytesMaxDefault } = {}): Promise<ChatStore> {
    const opened = await SqliteFile.open(file, {
      setting: "--chat-store",
      keeps: "chats",
      whenFull: "Free some space.",
      migrations,
      applicationId,
    });
    return new ChatStore(opened, bytesMax);
  }

  /** All records but messages and files. */
  list(): ChatRecord[] {
    return this.#read("conversation_id IS NULL");
  }

  /** The messages or the files of a conversation. */
  inside({ conversation_id: id, kind }: ChatRecordsQuery): ChatRecord[] {
    return this.#read("conversation_id = ? AND kind = ?", id, kind);
  }

  find({ kind, id }: ChatRecordQuery): ChatRecord | undefined {
    return this.#read("kind = ? AND id = ?", kind, id)[0];
  }

  /** Applies the changes together, in order. Throws `payload_too_large`, with no change, if the store would be too large. */
  change({ page, changes }: ChatChangesRequest): ChatChangesResult {
    const changed: Changed[] = [];
    const result = this.#file.together(() => {
      this.#file.rows("UPDATE chat_totals SET revision = revision + 1");
      const [bytesBefore = 0, revision = 0] = this.#totals();
      const applied = changes.map((change) => {
        const one = change.op === "put" ? this.#put(change, revision) : this.#remove(change);
        if (one !== undefined) changed.push(one);
        return one !== undefined;
      });
      const [bytes = 0] = this.#totals();
      if (bytes > this.#bytesMax && bytes > bytesBefore) throw tooLarge();
      return { applied, revision };
    });
    if (changed.length > 0) this.feed.add({ about: "changes", page, changed });
    return result;
  }

  /** Passes a note on to all pages. */
  note({ page, type, id }: ChatNote): void {
    this.feed.add({ about: "note", page, note: type, id });
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  /** Undefined if its condition does not hold. */
  #put(change: Put, revision: number): Changed | undefined {
    const { kind, id, text, when } = change;
    const before = this.#placeOf(kind, id);
    if (when !== "always" && (before === undefined) !== (when === "absent")) return undefined;
    const conversationId = "conversation_id" in change ? change.conversation_id : null;
    if (conversationId !== null) {
      const isMoved = before !== undefined && before.conversationId !== conversationId;
      if (isMoved || this.#placeOf("conversation", conversationId) === undefined) return undefined;
    } else if ("revision" in change && change.revision !== undefined && change.revision !== before?.revision)
      return undefined;
    this.#file.rows("DELETE FROM chat_records WHERE kind = ? AND id = ?", kind, id);
    const values = [kind, id, conversationId, revision, Buffer.byteLength(text), text];
    this.#file.rows(
      "INSERT INTO chat_records (kind, id, conversation_id, revision, bytes, text) VALUES (?, ?, ?, ?, ?, ?)",
      ...values,
    );
    return { kind, id, conversation_id: conversationId };
  }

  /** Undefined if there is no such record. */
  #remove({ kind, id }: Pick<ChatRecord, "kind" | "id">): Changed | undefined {
    const before = this.#placeOf(kind, id);
    if (before === undefined) return undefined;
    this.#file.rows("DELETE FROM chat_records WHERE kind = ? AND id = ?", kind, id);
    if (kind === "conversation") this.#file.rows("DELETE FROM chat_records WHERE conversation_id = ?", id);
    return { kind, id, conversation_id: before.conversationId };
  }

  #placeOf(kind: string, id: string): { conversationId: string | null; revision: number } | undefined {
    const sql = "SELECT conversation_id, revision FROM chat_records WHERE kind = ? AND id = ?";
    const [row] = this.#file.rows(sql, kind, id);
    if (row === undefined) return undefined;
    const [conversationId, revision] = row;
    return {
      conversationId: typeof conversationId === "string" ? conversationId : null,
      revision: Number(revision),
    };
  }

  #read(condition: string, ...values: string[]): ChatRecord[] {
    const rows = this.#file.rows(`SELECT ${columns} FROM chat_records WHERE ${condition}`, ...values);
    return rows.map(([kind, id, conversationId, revision, text]) => ({
      kind: ChatRecordKind.parse(kind), // the file may have been changed by hand
      id: String(id),
      conversation_id: typeof conversationId === "string" ? conversationId : null,
      revision: Number(revision),
      text: String(text),
    }));
  }

  #totals(): number[] {
    return toNumbers(this.#file.rows("SELECT bytes, revision FROM chat_totals")[0]);
  }
}

function tooLarge(): WireError {
  return new WireError(
    "payload_too_large",
    "The app's chats would need more space than they may take. Export and delete some of them.",
  );
}

/** The file in the folder for settings. */
const fileName = "chats.db";

interface ChatPlace {
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
