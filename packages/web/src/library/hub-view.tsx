// The model hub: search, results, and the models of each repository. The search and the open repository are part of the URL.
import type { FoundRepository } from "@ingle/protocol";
import { useEffect, useState } from "preact/hooks";

import { go, linkTo, route } from "../app/router.ts";
import { Badge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { SearchInput } from "../design/field.tsx";
import { Icon } from "../design/icon.tsx";
import { roundCountText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";
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
  const text = strings.value.library;
  const [typed, setTyped] = useState(words);
  const submit = (event: Event) => {
    event.preventDefault();
    const wanted = typed.trim();
    if (wanted === "") return;
    if (wanted === words) void searchHub(words, { again: true });
    else go(linkTo("library", hubPart, wanted));
  };
  return (
    <form class="hub-search" role="search" onSubmit={submit}>
      <Icon name="search" size={18} />
      <SearchInput
        aria-label={text.search}
        placeholder={text.searchPlaceholder}
        maxLength={256}
        value={typed}
        onValue={setTyped}
      />
      <Button kind="primary" type="submit">
        {text.searchAction}
      </Button>
    </form>
  );
}

function Intro() {
  const text = strings.value.library;
  return <EmptyState icon="search" title={text.hubIntroTitle} text={text.hubIntroText} />;
}

function Results({ words, opened }: { words: string; opened: string }) {
  const text = strings.value.library;
  const state = search.value?.words === words ? search.value.state : undefined;
  if (state === undefined || state.kind === "asking") {
    return (
      <p class="row soft" role="status">
        <span class="spinner" aria-hidden="true" />
        {text.searching}
      </p>
    );
  }
  if (state.kind === "failed")
    return <HubUnreachable message={state.message} onRetry={() => void searchHub(words)} />;
  if (state.answer.length === 0) return <p class="soft">{text.noResults}</p>;
  return (
    <div class="stack">
      <p class="small soft" role="status">
        {text.results(state.answer.length)}
      </p>
      <ul class="boxed repositories" aria-label={text.resultsList}>
        {state.answer.map((found) => (
          <Repository key={found.repo} found={found} words={words} isOpen={found.repo === opened} />
        ))}
      </ul>
    </div>
  );
}

function Repository({ found, words, isOpen }: { found: FoundRepository; words: string; isOpen: boolean }) {
  const text = strings.value.library;
  const [owner = "", name = found.repo] = found.repo.split("/");
  const target = isOpen ? linkTo("library", hubPart, words) : linkTo("library", hubPart, words, found.repo);
  return (
    <li class={`repository ${isOpen ? "open" : ""}`}>
      <button
        type="button"
        class="repository-head"
        aria-expanded={isOpen}
        onClick={() => go(target, { replace: isOpen })}
      >
        <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={18} />
        <span class="repository-name">
          <span class="soft">{owner}/</span>
          <b>{name}</b>
        </span>
        {found.gated && <Badge tone="warn">{text.gated}</Badge>}
        <span class="repository-counts small soft figures">
          <span>{text.downloads(roundCountText(found.downloads))}</span>
          <span>{text.likes(roundCountText(found.likes))}</span>
        </span>
      </button>
      {isOpen && <RepositoryDetails repo={found.repo} />}
    </li>
  );
}
