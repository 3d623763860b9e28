// Below a draft: that it is too long, or that only passages of its documents are sent, and how these are found.
import { countText } from "../format/localized.ts";
import { FindEmbedder } from "../sampling/documents-form.tsx";
import { chatText } from "../strings/chat.ts";
import { documentsText } from "../strings/documents.ts";
import { currentChoice, chooseEmbedder, embedders } from "../conversations/current-chat.ts";
import { measureDraft } from "./token-counts.ts";

/** Warns of a message that the model could not answer, before it is sent. */
export function DocumentsNote({ id }: { id: string }) {
  const size = measureDraft(id);
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
  const embedder = chooseEmbedder(choice);
  if (embedder !== null) return <> {documentsText.byMeaning(embedder)}</>;
  if (embedders().length > 0) return <> {documentsText.byWords}</>;
  return (
    <>
      {" "}
      {documentsText.modelMissing} <FindEmbedder />
    </>
  );
}
