// The model hub: search, results, and the models of each repository. The search and the open repository are part of the URL.
import type { FoundRepository } from "@ingle/protocol";
import { useEffect, useState } from "preact/hooks";

import { navigate, linkTo, route } from "../router.ts";
import { Badge } from "../design/indicators.tsx";
import { Button } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { Form, TextInput } from "../design/field.tsx";
import { Icon } from "../design/icon.tsx";
import { roundCountText } from "../format/localized.ts";
import { appText } from "../strings/app.ts";
import { libraryText } from "../strings/library.ts";
import { search, searchHub } from "./hub-search.ts";
import { HubUnreachable, RepositoryDetails } from "./repository-details.tsx";

import "./hub.css";

/** The URL segment of this view. */
export const hubPart = "hub";

export function HubView() {
  const [, words = "", opened = ""] = route.value.parts;
  useEffect(() => {
    if (words !== "") void searchHub(words);
  }, [words]);
  return (
    <div class="stack">
      <SearchForm key={words} words={words} />
      {words === "" ? <Intro /> : <Results words={words} opened={opened} />}
    </div>
  );
}

function SearchForm({ words }: { words: string }) {
  const [typed, setTyped] = useState(words);
  const submit = () => {
    const wanted = typed.trim();
    if (wanted === "") return;
    if (wanted === words) void searchHub(words, { again: true });
    else navigate(linkTo("library", hubPart, wanted));
  };
  return (
    <Form class="hub-search" role="search" onSubmit={submit}>
      <Icon name="search" size={18} />
      <TextInput
        type="search"
        aria-label={libraryText.search}
        placeholder={libraryText.searchPlaceholder}
        maxLength={256}
        value={typed}
        onValue={setTyped}
      />
      <Button kind="primary" type="submit">
        {libraryText.searchAction}
      </Button>
    </Form>
  );
}

function Intro() {
  return <EmptyState icon="search" title={libraryText.hubIntroTitle} text={libraryText.hubIntroText} />;
}

function Results({ words, opened }: { words: string; opened: string }) {
  const state = search.value?.words === words ? search.value.state : undefined;
  if (state === undefined || state.kind === "asking") {
    return (
      <p class="row soft" role="status">
        <span class="spinner" aria-hidden="true" />
        {appText.searching}
      </p>
    );
  }
  if (state.kind === "failed")
    return <HubUnreachable message={state.message} onRetry={() => void searchHub(words)} />;
  if (state.answer.length === 0) return <p class="soft">{libraryText.noResults}</p>;
  return (
    <div class="stack">
      <p class="small soft" role="status">
        {libraryText.results(state.answer.length)}
      </p>
      <ul class="boxed repositories" aria-label={libraryText.resultsList}>
        {state.answer.map((found) => (
          <Repository key={found.repo} found={found} words={words} isOpen={found.repo === opened} />
        ))}
      </ul>
    </div>
  );
}

function Repository({ found, words, isOpen }: { found: FoundRepository; words: string; isOpen: boolean }) {
  const [owner = "", name = found.repo] = found.repo.split("/");
  const target = isOpen ? linkTo("library", hubPart, words) : linkTo("library", hubPart, words, found.repo);
  return (
    <li class={`repository ${isOpen ? "open" : ""}`}>
      <button
        type="button"
        class="repository-head"
        aria-expanded={isOpen}
        onClick={() => navigate(target, { replace: isOpen })}
      >
        <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={18} />
        <span class="repository-name">
          <span class="soft">{owner}/</span>
          <b>{name}</b>
        </span>
        {found.gated && <Badge tone="warn">{libraryText.gated}</Badge>}
        <span class="repository-counts small soft figures">
          <span>{libraryText.downloads(roundCountText(found.downloads))}</span>
          <span>{libraryText.likes(roundCountText(found.likes))}</span>
        </span>
      </button>
      {isOpen && <RepositoryDetails repo={found.repo} />}
    </li>
  );
}
