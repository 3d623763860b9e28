// The plain-text page: a model continues a text, and each of its tokens shows the alternatives.
import { useState } from "preact/hooks";

import { chatModels } from "../conversations/current-chat.ts";
import { link } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { NumberField, SelectField, TextArea } from "../design/field.tsx";
import { shareText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { plainText } from "../strings/pages.ts";
import { samplingText } from "../strings/sampling.ts";
import {
  chosenPieceIndex,
  continueFrom,
  isWriting,
  pickModel,
  pieces,
  stopWriting,
  temperature,
  textModel,
  maxTokensToWrite,
  typeText,
  continueText,
} from "./text-writer.ts";
import { joinPieces, type Piece } from "./token-pieces.ts";

import "./text-page.css";

/** Tokens with a lower probability are marked, in two steps. */
const unlikelyBelow = 0.2;
const likelyFrom = 0.6;

export function TextPage() {
  const [isEditing, setEditing] = useState(true);
  const isShown = !isEditing || isWriting.value;
  const write = () => {
    setEditing(false);
    void continueText();
  };
  return (
    <div class="page">
      <div class="page-column">
        <header class="stack">
          <h1>{plainText.title}</h1>
          <p class="soft">{plainText.intro}</p>
        </header>
        <TextSettings />
        {isShown ? (
          <Tokens />
        ) : (
          <TextArea
            rows={12}
            aria-label={appText.text}
            placeholder={plainText.placeholder}
            value={joinPieces(pieces.value)}
            onValue={typeText}
          />
        )}
        <div class="row">
          {isWriting.value ? (
            <Button icon="stop" onClick={stopWriting}>
              {appText.stop}
            </Button>
          ) : (
            <Button
              kind="primary"
              icon="forward"
              disabled={textModel.value === undefined || link.value !== "open"}
              onClick={write}
            >
              {plainText.continueText}
            </Button>
          )}
          <Button
            icon={isShown ? "edit" : "text"}
            disabled={isWriting.value}
            onClick={() => setEditing(isShown)}
          >
            {isShown ? plainText.edit : plainText.showTokens}
          </Button>
          <Button
            kind="quiet"
            icon="trash"
            disabled={isWriting.value || pieces.value.length === 0}
            onClick={() => typeText("")}
          >
            {plainText.clear}
          </Button>
        </div>
        {isShown && <Alternatives />}
      </div>
    </div>
  );
}

function TextSettings() {
  const choices = chatModels.value.map(({ id }) => ({ value: id, label: id }));
  return (
    <div class="text-settings">
      <SelectField
        label={appText.model}
        value={textModel.value ?? ""}
        choices={choices}
        onValue={pickModel}
      />
      <NumberField
        label={plainText.tokens}
        hint={plainText.tokensHint}
        min={1}
        step={1}
        value={maxTokensToWrite.value}
        onValue={(value) => (maxTokensToWrite.value = Math.max(1, Math.round(value ?? 1)))}
      />
      <NumberField
        label={samplingText.temperature}
        hint={samplingText.temperatureHint}
        min={0}
        max={100}
        step={0.1}
        value={temperature.value}
        onValue={(value) => (temperature.value = Math.max(0, value ?? 1))}
      />
    </div>
  );
}

function Tokens() {
  return (
    <div class="tokens" role="group" aria-label={appText.text} aria-busy={isWriting.value}>
      {pieces.value.map((piece, at) => (
        <Token key={at} piece={piece} at={at} />
      ))}
    </div>
  );
}

function Token({ piece, at }: { piece: Piece; at: number }) {
  const { text, share, alternatives } = piece;
  if (share === null || alternatives.length === 0) return <span>{text}</span>;
  const tone = share >= likelyFrom ? "likely" : share >= unlikelyBelow ? "maybe" : "unlikely";
  return (
    <button
      type="button"
      class={`token ${tone}`}
      aria-pressed={chosenPieceIndex.value === at}
      title={shareText(share)}
      disabled={isWriting.value}
      onClick={() => (chosenPieceIndex.value = chosenPieceIndex.value === at ? null : at)}
    >
      {text}
    </button>
  );
}

function Alternatives() {
  const at = chosenPieceIndex.value;
  const piece = at === null ? undefined : pieces.value[at];
  if (at === null || piece === undefined) return <p class="small soft">{plainText.chooseToken}</p>;
  return (
    <section class="card stack" aria-label={plainText.alternatives}>
      <h2>{plainText.alternativesTo(shownToken(piece.text))}</h2>
      <p class="small soft">{plainText.alternativesHint}</p>
      <ul class="alternatives">
        {piece.alternatives.map((alternative) => (
          <li key={alternative.text}>
            <Button
              size="small"
              disabled={isWriting.value}
              onClick={() => void continueFrom(at, alternative)}
            >
              <span class="alternative-text">{shownToken(alternative.text)}</span>{" "}
              <span class="figures soft">{shareText(alternative.share)}</span>
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A token with visible symbols for whitespace. */
function shownToken(text: string): string {
  return text.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥");
}
