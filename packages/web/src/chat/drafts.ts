// Unsent messages with their attachments, one per chat. They survive a reload of the tab: texts in sessionStorage, which is at hand at
// once, files in IndexedDB.
import { signal } from "@preact/signals";

import { readFile } from "../attachments/read-file.ts";
import { attempt, showToast } from "../design/toast.tsx";
import { chatText } from "../strings/chat.ts";
import { chatModels, readsImages } from "../conversations/current-chat.ts";
import { type DraftFiles, storeDraftFiles, readDraftFiles } from "./draft-files.ts";

interface MessageDraft extends DraftFiles {
  text: string;
}

const emptyDraft: MessageDraft = { text: "", attachments: [], images: new Map() };

const keyPrefix = "ingle-draft-";

/** The server's limit of images per request; texts are bounded by the context. */
const attachmentsMax = 64;

const drafts = signal<ReadonlyMap<string, MessageDraft>>(new Map());

/** The draft of a conversation. A new conversation has the empty id. */
export function readDraft(id: string): MessageDraft {
  return drafts.value.get(id) ?? { ...emptyDraft, text: sessionStorage.getItem(keyPrefix + id) ?? "" };
}

export function changeDraft(id: string, change: Partial<MessageDraft>): void {
  const changed = { ...readDraft(id), ...change };
  drafts.value = new Map(drafts.value).set(id, changed);
  if (changed.text === "") sessionStorage.removeItem(keyPrefix + id);
  else sessionStorage.setItem(keyPrefix + id, changed.text);
  if (change.attachments !== undefined) void keep(id);
}

/** Changes are kept one after another, each with the state of that time. */
let kept: Promise<void> = restore();

function keep(id: string): Promise<void> {
  const before = kept;
  kept = (async () => {
    await before;
    try {
      await storeDraftFiles(id, readDraft(id));
    } catch {
      // A private window may have no database: the files are lost with a reload then, as their tab is.
    }
  })();
  return kept;
}

/** Adds the files that this tab had before a reload. */
async function restore(): Promise<void> {
  try {
    for (const [id, { attachments, images }] of await readDraftFiles()) {
      const now = readDraft(id);
      const both = { ...now, attachments: [...attachments, ...now.attachments] };
      drafts.value = new Map(drafts.value).set(id, { ...both, images: new Map([...images, ...now.images]) });
    }
  } catch {
    // As above.
  }
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
  const { attachments, images } = readDraft(draftId);
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
