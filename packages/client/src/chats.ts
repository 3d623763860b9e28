// `client.chats`: the chats of the app's page, which only its control address keeps.
import type {
  ChatChangesRequest,
  ChatChangesResult,
  ChatNote,
  ChatNoteResult,
  ChatRecord,
  ChatRecordKind,
  ChatRecordList,
} from "@ingle/protocol";

import { callsBelow } from "./calls.ts";
import { hasList, isRecord } from "./response-body.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** A record is JSON text that only the page reads. Changes reach the other pages as events of `client.events()`. */
export interface Chats {
  /** All records but messages and files. */
  list(options?: CallOptions): Promise<ChatRecordList>;
  /** The messages or the files of a conversation. */
  inside(conversationId: string, kind: "message" | "file", options?: CallOptions): Promise<ChatRecordList>;
  /** One record; undefined if there is none. */
  find(kind: ChatRecordKind, id: string, options?: CallOptions): Promise<ChatRecord | undefined>;
  /** Applies changes together. The result says which of them had a condition that did not hold. */
  change(changes: ChatChangesRequest, options?: CallOptions): Promise<ChatChangesResult>;
  /** Asks or tells the other pages who is writing a reply. */
  note(note: ChatNote, options?: CallOptions): Promise<ChatNoteResult>;
}

const isList = (value: unknown): value is ChatRecordList => hasList(value, "data");
const isResult = (value: unknown): value is ChatChangesResult => hasList(value, "applied");
const isSent = (value: unknown): value is ChatNoteResult => isRecord(value) && value["sent"] === true;

export function createChats(transport: Transport): Chats {
  const { get, post } = callsBelow(transport, "/api/v1/chats");
  return {
    list: (options = {}) => get("", options, isList),
    inside: (conversationId, kind, options = {}) =>
      get(`/records?${new URLSearchParams({ conversation_id: conversationId, kind })}`, options, isList),
    find: async (kind, id, options = {}) =>
      (await get(`/record?${new URLSearchParams({ kind, id })}`, options, isList)).data[0],
    change: (changes, options = {}) => post("/changes", changes, options, isResult),
    note: (note, options = {}) => post("/notes", note, options, isSent),
  };
}
