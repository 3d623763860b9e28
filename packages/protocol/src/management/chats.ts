// The chats of the app's page, which its control address keeps, under /api/v1/chats. A record is JSON text that only the page reads: the
// server keeps it, tells other pages of each change, and never looks into it.
import { z } from "zod";

import { requestObject, responseObject, stringField } from "../fields/field.ts";

/** Maximum length of an id; those of the page have 24 characters. */
const chatIdLengthMax = 128;
/** Maximum number of changes in one request: a message with its images and their conversation needs fewer. */
export const chatChangesMax = 1_000;
/** Maximum length of one record in UTF-16 units; a request body may be a little longer. An image of 20 MB fits. */
export const chatRecordLengthMax = 30 * 1024 * 1024;

const idField = (name: string) => stringField(name, { min: 1, max: chatIdLengthMax });

/** `message` and `file` (the bytes of an attachment) belong to a conversation and are removed with it. */
export const ChatRecordKind = z.enum(
  ["conversation", "message", "file", "folder", "preset"],
  'kind must be "conversation", "message", "file", "folder" or "preset"',
);
export type ChatRecordKind = z.infer<typeof ChatRecordKind>;

export const ChatRecord = responseObject("ChatRecord", {
  kind: ChatRecordKind,
  id: z.string(),
  conversation_id: z.string().nullable().describe("Of messages and files; null for others."),
  revision: z.int().describe("Grows with each change of any record."),
  text: z.string().describe("The record, as JSON."),
});
export type ChatRecord = z.infer<typeof ChatRecord>;

/** The response of `GET /api/v1/chats` and `GET /api/v1/chats/records`. */
export const ChatRecordList = responseObject("ChatRecordList", {
  object: z.literal("list"),
  data: z.array(ChatRecord),
});
export type ChatRecordList = z.infer<typeof ChatRecordList>;

/** The query of `GET /api/v1/chats/records`. */
export const ChatRecordsQuery = z.looseObject({
  conversation_id: idField("conversation_id"),
  kind: z.enum(["message", "file"], 'kind must be "message" or "file"'),
});
export type ChatRecordsQuery = z.infer<typeof ChatRecordsQuery>;

/** The query of `GET /api/v1/chats/record`. */
export const ChatRecordQuery = z.looseObject({ kind: ChatRecordKind, id: idField("id") });
export type ChatRecordQuery = z.infer<typeof ChatRecordQuery>;

const put = {
  op: z.literal("put"),
  id: idField("id"),
  text: stringField("text", { min: 1, max: chatRecordLengthMax }),
  when: z
    .enum(["always", "absent", "present"], 'when must be "always", "absent" or "present"')
    .describe("Whether it has to be a new record or a known one."),
};

/** One change. It is not applied if its condition does not hold. */
export const ChatChange = z
  .union(
    [
      z.object({ ...put, kind: z.enum(["message", "file"]), conversation_id: idField("conversation_id") }),
      z.object({
        ...put,
        kind: z.enum(["conversation", "folder", "preset"]),
        revision: z
          .int()
          .min(0)
          .optional()
          .describe("The revision that the change is based on; it is not applied to another one."),
      }),
      z
        .object({ op: z.literal("remove"), kind: ChatRecordKind, id: idField("id") })
        .describe("Removing a conversation removes its messages and files."),
    ],
    "changes must be objects with op (put or remove), kind and id; a put also has text and when, and conversation_id for messages and files",
  )
  .meta({ id: "ChatChange" });
export type ChatChange = z.infer<typeof ChatChange>;

const pageField = idField("page").describe("The page that sends it; any random text.");

/** The body of `POST /api/v1/chats/changes`: applied together or not at all. */
export const ChatChangesRequest = requestObject("ChatChangesRequest", {
  page: pageField,
  changes: z
    .array(ChatChange, "changes must be a list")
    .max(chatChangesMax, `changes must have at most ${chatChangesMax} items`),
});
export type ChatChangesRequest = z.infer<typeof ChatChangesRequest>;

export const ChatChangesResult = responseObject("ChatChangesResult", {
  applied: z.array(z.boolean()).describe("For each change, in order: whether its condition held."),
  revision: z.int().describe("The revision of the records that were written."),
});
export type ChatChangesResult = z.infer<typeof ChatChangesResult>;

/** What one page asks or tells the others: which of them is writing a reply. */
export const ChatNote = requestObject("ChatNote", {
  page: pageField,
  type: z.enum(["who-writes", "i-write"], 'type must be "who-writes" or "i-write"'),
  id: idField("id").describe("The message of the reply."),
});
export type ChatNote = z.infer<typeof ChatNote>;

/** The response of `POST /api/v1/chats/notes`. */
export const ChatNoteResult = responseObject("ChatNoteResult", { sent: z.literal(true) });
export type ChatNoteResult = z.infer<typeof ChatNoteResult>;

/** What `GET /api/v1/events` sends to every page for each request that changed something, and for each note. */
export const ChatEvent = z
  .discriminatedUnion("about", [
    z.object({
      about: z.literal("changes"),
      page: z.string(),
      changed: z.array(
        z.object({ kind: ChatRecordKind, id: z.string(), conversation_id: z.string().nullable() }),
      ),
    }),
    z.object({
      about: z.literal("note"),
      page: z.string(),
      note: z.enum(["who-writes", "i-write"]),
      id: z.string(),
    }),
    z
      .object({ about: z.literal("missed") })
      .describe("The listener was too slow: it has to read everything again."),
  ])
  .meta({ id: "ChatEvent" });
export type ChatEvent = z.infer<typeof ChatEvent>;
