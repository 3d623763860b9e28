// Files that were chosen, dropped or pasted come to the draft, or a sentence says why one does not.
import { readFile } from "../attachments/read-file.ts";
import { showError, showToast } from "../design/toast.tsx";
import { strings } from "../strings/strings.ts";
import { canSee, chatModels } from "./current-chat.ts";
import { changeDraft, draftOf } from "./drafts.ts";

/** Most images of a request, by the server's own limit; texts are bounded by the context. */
const attachmentsMax = 64;

export async function addFiles(draftId: string, files: readonly File[]): Promise<void> {
  for (const file of files) {
    try {
      await addFile(draftId, file);
    } catch (error) {
      showError(error);
    }
  }
}

async function addFile(draftId: string, file: File): Promise<void> {
  const read = await readFile(file, { canSee: canSee.value });
  if (read.problem !== null) {
    const sentence = strings.value.chat.fileProblems[read.problem](file.name);
    showToast({
      text: read.problem === "noVision" ? `${sentence} ${modelsThatSee()}` : sentence,
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

/** Which of the installed models could see an image, or where such models are to be had. */
function modelsThatSee(): string {
  const names = chatModels.value
    .filter(({ capabilities }) => capabilities.includes("vision"))
    .map(({ id }) => id);
  const text = strings.value.chat;
  return names.length === 0 ? text.noVisionModels : text.visionModels(names.join(", "));
}
