// Unsent messages with their attachments, one per chat. Their texts survive a reload of the tab.
import { signal } from "@preact/signals";

import { readFile } from "../attachments/read-file.ts";
import type { Attachment } from "../chats/conversation.ts";
import { attempt, showToast } from "../design/toast.tsx";
import { chatText } from "../strings/chat.ts";
import { chatModels, readsImages } from "./current-chat.ts";

interface MessageDraft {
  text: string;
  attachments: readonly Attachment[];
  /** The bytes of its images, by attachment id. */
  images: ReadonlyMap<string, Blob>;
}

const emptyDraft: MessageDraft = { text: "", attachments: [], images: new Map() };

const keyPrefix = "ingle-draft-";

/** The server's limit of images per request; texts are bounded by the context. */
const attachmentsMax = 64;

const drafts = signal<ReadonlyMap<string, MessageDraft>>(new Map());

/** The draft of a conversation. A new conversation has the empty id. */
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

/** Attaches files to a draft. A file that cannot be attached is reported in a toast. */
export async function attachFiles(draftId: string, files: readonly File[]): Promise<void> {
  for (const file of files) await attempt(() => attachFile(draftId, file));
}

async function attachFile(draftId: string, file: File): Promise<void> {
  const read = await readFile(file, { readsImages: readsImages.value });
  if (read.problem !== null) {
    const sentence = chatText.fileProblems[read.problem](file.name);
    showToast({
      text: read.problem === "noVision" ? `${sentence} ${modelsThatReadImages()}` : sentence,
      tone: "bad",
    });
    return;
  }
  const { attachments, images } = draftOf(draftId);
  const { attachment, image } = read;
  changeDraft(draftId, {
    attachments: [...attachments, attachment].slice(0, attachmentsMax),
    images: image === null ? images : new Map(images).set(attachment.id, image),
  });
}

function modelsThatReadImages(): string {
  const names = chatModels.value
    .filter(({ capabilities }) => capabilities.includes("vision"))
    .map(({ id }) => id);
  return names.length === 0 ? chatText.noVisionModels : chatText.visionModels(names.join(", "));
}
