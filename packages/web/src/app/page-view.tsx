// The page that the URL names. Each page is a chunk that is loaded on first use.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Button } from "../design/button.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { strings } from "../strings/strings.ts";
import { route, type PageName } from "./router.ts";

const loaders: Record<PageName, () => Promise<ComponentType>> = {
  chat: async () => (await import("../chat/chat-page.tsx")).ChatPage,
  text: async () => (await import("../text/text-page.tsx")).TextPage,
  library: async () => (await import("../library/library-page.tsx")).LibraryPage,
  server: async () => (await import("../server/server-page.tsx")).ServerPage,
  settings: async () => (await import("../settings/settings-page.tsx")).SettingsPage,
};

const loaded = new Map<PageName, ComponentType>();

export function PageView() {
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
    document.title = `${strings.value.app[page]} · Ingle`;
    if (!loaded.has(page)) void load();
  }, [page]);
  const Page = loaded.get(page);
  if (Page !== undefined) return <Page />;
  if (failed !== page) return <p class="page-wait">{strings.value.app.loading}</p>;
  return (
    <EmptyState icon="error" title={strings.value.app.pageFailed}>
      <Button icon="retry" onClick={() => void load()}>
        {strings.value.app.retry}
      </Button>
    </EmptyState>
  );
}
