// The frame of the page: navigation, the state of the connection, and the page that the address names.
import { link } from "../connection/connection.ts";
import { Announcer } from "../design/announcer.tsx";
import { QuestionHost } from "../design/question.tsx";
import { ToastHost } from "../design/toast.tsx";
import { strings } from "../strings/strings.ts";
import { ClosedPage } from "./closed-page.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
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

/** The fragment of the address is the route, so the link moves the focus by itself. */
function focusContent(event: MouseEvent): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#content")?.focus();
}
