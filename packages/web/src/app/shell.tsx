// The frame around the pages: navigation, connection banner, dialogs and toasts.
import { connectNow, link } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { Icon } from "../design/icon.tsx";
import { QuestionHost } from "../design/question.tsx";
import { Announcer, ToastHost } from "../design/toast.tsx";
import { strings } from "../strings/strings.ts";
import { ClosedPage } from "./closed-page.tsx";
import { Navigation } from "./navigation.tsx";
import { PageView } from "./page-view.tsx";

import "./shell.css";

export function Shell() {
  return (
    <div class="shell">
      <a class="skip-link" href="#content" onClick={focusContent}>
        {strings.value.app.skipToContent}
      </a>
      <Navigation />
      <main id="content" class="content" tabIndex={-1}>
        <ConnectionBanner />
        {link.value === "closed" ? <ClosedPage /> : <PageView />}
      </main>
      <QuestionHost />
      <ToastHost />
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
  const text = strings.value.app;
  return (
    <div role="status">
      {link.value === "lost" && (
        <div class="banner">
          <Icon name="error" />
          <span>{text.connectionLost}</span>
          <Button size="small" onClick={connectNow}>
            {text.tryNow}
          </Button>
        </div>
      )}
    </div>
  );
}
