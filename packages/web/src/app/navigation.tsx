// Links to the pages: on the left in a wide window, at the bottom on a phone.
import { link, live } from "../connection/connection.ts";
import { Icon, type IconName } from "../design/icon.tsx";
import { appText } from "../strings/app.ts";
import { linkBack, pageNames, route, type PageName } from "../router.ts";

import "./navigation.css";

const icons: Record<PageName, IconName> = {
  chat: "chat",
  text: "text",
  library: "library",
  server: "server",
  settings: "settings",
};

export function Navigation() {
  return (
    <nav class="navigation" aria-label={appText.navigation}>
      <span class="mark" aria-hidden="true">
        <Icon name="app" size={26} />
      </span>
      <ul>
        {pageNames.map((name) => (
          <li key={name} class={`nav-${name}`}>
            <a
              class="nav-link"
              href={linkBack(name)}
              aria-current={route.value.page === name ? "page" : undefined}
            >
              <span class="nav-icon">
                <Icon name={icons[name]} size={22} />
                {name === "library" && <JobsDot />}
              </span>
              <span class="nav-label">{appText[name]}</span>
            </a>
          </li>
        ))}
      </ul>
      <LinkState />
    </nav>
  );
}

/** A dot while a job is waiting or running. */
function JobsDot() {
  const isBusy =
    live.value?.jobs.some((job) => job.status === "running" || job.status === "waiting") ?? false;
  return isBusy ? <span class="nav-dot" /> : null;
}

function LinkState() {
  const label = {
    connecting: appText.connecting,
    open: appText.connected,
    lost: appText.connectionLostShort,
    closed: appText.keyTitle,
  };
  return (
    <span class={`link-state ${link.value}`} title={label[link.value]}>
      <span class="visually-hidden">{label[link.value]}</span>
    </span>
  );
}
