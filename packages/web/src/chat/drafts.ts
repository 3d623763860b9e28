// What has been typed and attached but not sent, for each chat apart. Texts survive a reload of the tab.
import { signal } from "@preact/signals";

import type { Attachment } from "../chats/conversation.ts";

export interface MessageDraft {
  text: string;
  attachments: readonly Attachment[];
  /** The bytes of its images by the ids of their attachments. */
  images: ReadonlyMap<string, Blob>;
}

const emptyDraft: MessageDraft = { text: "", attachments: [], images: new Map() };

const keyPrefix = "ingle-draft-";

const drafts = signal<ReadonlyMap<string, MessageDraft>>(new Map());

/** The draft of a conversation; of a new one by the empty id. */
export function draftOf(id: string): MessageDraft {
  return drafts.value.get(id) ?? { ...emptyDraft, text: sessionStorage.getItem(keyPrefix + id) ?? "" };
}

export function changeDraft(id: string, change: Partial<MessageDraft>): void {
  const changed = { ...draftOf(id), ...change };
  drafts.value = new Map(drafts.value).set(id, changed);
  if (changed.text === "") sessionStorage.removeItem(keyPrefix + id);
  else sessionStorage.setItem(keyPrefix + id, changed.text);
}

export function clearDraft(id: string): void {
  changeDraft(id, emptyDraft);
}
