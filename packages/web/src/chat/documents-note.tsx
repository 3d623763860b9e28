// Below a draft: that it is too long, or that only passages of its documents are sent, and how these are found.
import { linkTo } from "../app/router.ts";
import { countText } from "../format/localized.ts";
import { embedderOf, embedders } from "../replies/embedder.ts";
import { chatText } from "../strings/chat.ts";
import { documentsText } from "../strings/documents.ts";
import { currentChoice } from "./current-chat.ts";
import { sizeOfDraft } from "./token-counts.ts";

/** Warns of a message that the model could not answer, before it is sent. */
export function DocumentsNote({ id }: { id: string }) {
  const size = sizeOfDraft(id);
  if (size === null || (size.fits && size.searched.length === 0)) return null;
  const { draft, left, all, searched, fits } = size;
  return (
    <p class={`composer-note ${fits ? "plain" : ""}`} role="status">
      {draft > left && `${chatText.draftTooLong(countText(draft), countText(left), countText(all))} `}
      {fits ? documentsText.onlyPassages(searched.join(", ")) : chatText.cannotAnswer}
      {fits && <HowFound />}
    </p>
  );
}

function HowFound() {
  const { embedder: choice } = currentChoice.value.settings;
  const embedder = embedderOf(choice);
  if (embedder !== null) return <> {documentsText.byMeaning(embedder)}</>;
  if (embedders().length > 0) return <> {documentsText.byWords}</>;
  return (
    <>
      {" "}
      {documentsText.modelMissing} <FindEmbedder />
    </>
  );
}

/** Leads to the model hub. */
export function FindEmbedder() {
  return <a href={linkTo("library", "hub", "embedding")}>{documentsText.find}</a>;
}
