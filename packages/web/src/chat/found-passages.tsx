// What was sent of documents that are searched: how many passages, how they were found, and each of them to read. And how far a document is
// read meanwhile.
import { useState } from "preact/hooks";

import type { FoundPassages, Passage } from "../conversations/conversation.ts";
import { Dialog } from "../design/dialog.tsx";
import { Icon } from "../design/icon.tsx";
import { Progress } from "../design/indicators.tsx";
import { countText } from "../format/localized.ts";
import type { ReadingProgress } from "../conversations/live-replies.ts";
import { documentsText } from "../strings/documents.ts";
import { storedErrorMessage } from "../strings/error-message.ts";

import "./found-passages.css";

export function FoundPassagesView({ found }: { found: FoundPassages }) {
  const { passages, tokens, embedder, problem } = found;
  const [opened, setOpened] = useState<Passage | null>(null);
  const how = embedder === null ? documentsText.foundByWords : documentsText.foundByMeaning(embedder);
  return (
    <div class="found-passages">
      <p class="small soft">{`${documentsText.found(passages.length, countText(tokens))}, ${how}`}</p>
      {problem !== undefined && <p class="small soft">{documentsText.meaningFailed(problemText(problem))}</p>}
      <ul class="attachments">
        {passages.map((passage) => (
          <li key={passageTitle(passage)}>
            <button
              type="button"
              class="file-chip passage-chip"
              title={passageTitle(passage)}
              onClick={() => setOpened(passage)}
            >
              <Icon name="text" size={18} />
              <span class="row-title">{passage.name}</span>{" "}
              <span class="soft small figures">{placeText(passage)}</span>
            </button>
          </li>
        ))}
      </ul>
      {opened !== null && (
        <Dialog title={passageTitle(opened)} size="wide" onClose={() => setOpened(null)}>
          <p class="passage-text">{opened.text}</p>
        </Dialog>
      )}
    </div>
  );
}

/** Shown while a document is read, before the model has its question. */
export function ReadingView({ reading: { name, done, all } }: { reading: ReadingProgress }) {
  const label = documentsText.reading(name, countText(done), countText(all));
  return (
    <div class="reading-document">
      <p class="small soft figures">{label}</p>
      <Progress label={label} value={done / all} />
    </div>
  );
}

function passageTitle(passage: Passage): string {
  return `${passage.name}, ${placeText(passage)}`;
}

function placeText({ unit, first, last, of }: Passage): string {
  return documentsText.places[unit](countText(first), countText(last), countText(of));
}

function problemText(problem: NonNullable<FoundPassages["problem"]>): string {
  return problem.code === "too_many_passages"
    ? documentsText.tooManyPassages
    : storedErrorMessage(problem).text;
}
