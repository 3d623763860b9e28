// Which embedding model finds passages of long documents.
import { changeSettings, currentChoice, chooseEmbedder, embedders } from "../conversations/current-chat.ts";
import { SelectField } from "../design/field.tsx";
import { linkTo } from "../router.ts";
import { documentsText } from "../strings/documents.ts";

/** The values of the choices that are no models. */
const automatic = "automatic";
const wordsOnly = "words";

export function DocumentsForm() {
  const { embedder = null } = currentChoice.value.settings;
  const standard = chooseEmbedder(null);
  const installed = embedders().map(({ id }) => id);
  const choices = [
    {
      value: automatic,
      label: standard === null ? documentsText.noModel : documentsText.automatic(standard),
    },
    { value: wordsOnly, label: documentsText.wordsOnly },
    ...installed.map((id) => ({ value: id, label: id })),
  ];
  const known = embedder !== null && installed.includes(embedder) ? embedder : automatic;
  const choose = (value: string) =>
    void changeSettings({ embedder: value === automatic ? null : value === wordsOnly ? "" : value });
  return (
    <section class="stack" aria-labelledby="documents-title">
      <h3 id="documents-title">{documentsText.title}</h3>
      <SelectField
        label={documentsText.embedderLabel}
        hint={documentsText.hint}
        value={embedder === "" ? wordsOnly : known}
        choices={choices}
        onValue={choose}
      />
      {installed.length === 0 && (
        <p class="small">
          <FindEmbedder />
        </p>
      )}
    </section>
  );
}

/** Leads to the model hub. */
export function FindEmbedder() {
  return <a href={linkTo("library", "hub", "embedding")}>{documentsText.find}</a>;
}
