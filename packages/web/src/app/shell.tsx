// The frame around the pages: navigation, connection banner, dialogs and toasts; the page itself, or what an unauthenticated one shows.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import { connectNow, link, session, signIn } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { CodeWords, EmptyState } from "../design/empty-state.tsx";
import { Field, Form, PasswordInput } from "../design/field.tsx";
import { Icon } from "../design/icon.tsx";
import { QuestionHost } from "../design/dialog.tsx";
import { Announcer, useAttempt, ToastHost } from "../design/toast.tsx";
import { appText } from "../strings/app.ts";
import { Navigation } from "./navigation.tsx";
import { type PageName, route } from "../router.ts";
import "./shell.css";

export function Shell() {
  return (
    <div class="shell">
      <a class="skip-link" href="#content" onClick={focusContent}>
        {appText.skipToContent}
      </a>
      <Navigation />
      <main id="content" class="content" tabIndex={-1}>
        <ConnectionBanner />
        <ToastHost />
        {link.value === "closed" ? <ClosedPage /> : <PageView />}
      </main>
      <QuestionHost />
      <Announcer />
    </div>
  );
}

/** The URL's fragment is the route, so the link cannot be followed and the focus is moved here. */
function focusContent(event: MouseEvent): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#content")?.focus();
}

/** Shown for as long as the server is unreachable. The page keeps showing what it has. */
function ConnectionBanner() {
  return (
    <div role="status">
      {link.value === "lost" && (
        <div class="banner">
          <Icon name="error" />
          <span>{appText.connectionLost}</span>
          <Button size="small" onClick={connectNow}>
            {appText.tryNow}
          </Button>
        </div>
      )}
    </div>
  );
}

const loaders: Record<PageName, () => Promise<ComponentType>> = {
  chat: async () => (await import("../chat/chat-page.tsx")).ChatPage,
  text: async () => (await import("../text/text-page.tsx")).TextPage,
  library: async () => (await import("../library/library-page.tsx")).LibraryPage,
  server: async () => (await import("../server/server-page.tsx")).ServerPage,
  settings: async () => (await import("../settings/settings-page.tsx")).SettingsPage,
};

const loaded = new Map<PageName, ComponentType>();

function PageView() {
  const { page } = route.value;
  const [, redraw] = useState(0);
  const [failed, setFailed] = useState<PageName | null>(null);
  const load = async () => {
    setFailed(null);
    try {
      loaded.set(page, await loaders[page]());
      redraw((count) => count + 1);
    } catch {
      // The server is gone, or it was updated and no longer has this chunk: the user decides when to try again.
      setFailed(page);
    }
  };
  useEffect(() => {
    document.title = `${appText[page]} · Ingle`;
    if (!loaded.has(page)) void load();
  }, [page]);
  const Page = loaded.get(page);
  if (Page !== undefined) return <Page />;
  if (failed !== page) return <p class="page-wait">{appText.loading}</p>;
  return (
    <EmptyState icon="error" title={appText.pageFailed}>
      <Button icon="retry" onClick={() => void load()}>
        {appText.retry}
      </Button>
    </EmptyState>
  );
}

function ClosedPage() {
  if (session.value?.is_app === true)
    return (
      <EmptyState
        icon="app"
        title={appText.appClosedTitle}
        text={<CodeWords text={appText.appClosedText} />}
      />
    );
  return (
    <EmptyState icon="key" title={appText.keyTitle} text={appText.keyText}>
      <KeyForm />
    </EmptyState>
  );
}

function KeyForm() {
  const [key, setKey] = useState("");
  const [isWrong, setWrong] = useState(false);
  const [isBusy, attempt] = useAttempt();
  const submit = () =>
    attempt(async () => {
      const isAccepted = await signIn(key.trim());
      setWrong(!isAccepted);
      if (isAccepted) connectNow();
    });
  return (
    <Form class="stack key-form" onSubmit={submit}>
      <Field label={appText.keyLabel} error={isWrong ? appText.keyWrong : undefined}>
        {(control) => <PasswordInput {...control} autocomplete="off" required value={key} onValue={setKey} />}
      </Field>
      <Button kind="primary" type="submit" isBusy={isBusy}>
        {appText.keyOpen}
      </Button>
    </Form>
  );
}
