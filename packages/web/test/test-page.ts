// A page in its own browser profile, which records everything that goes wrong on it.
import type { Browser, BrowserContext, Page } from "playwright-core";

import { ChatPage } from "./chat-page.ts";

export const sizes = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;
export type Size = keyof typeof sizes;
export type Theme = "light" | "dark";

/** Limit for one step, on a slow machine whose two cores are busy; vitest limits whole tests. */
const stepMs = 45_000;

export interface TestPageOptions {
  size?: Size;
  theme?: Theme;
  /** The address to open. Default: a blank page. */
  url?: string;
}

export class TestPage implements AsyncDisposable {
  readonly page: Page;
  readonly chat: ChatPage;
  readonly context: BrowserContext;
  /** Errors of scripts, of the console and of the Content-Security-Policy, and requests to other hosts. */
  readonly problems: string[] = [];

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    this.chat = new ChatPage(page);
    this.#watch(page);
  }

  static async open(browser: Browser, { size, theme, url }: TestPageOptions = {}): Promise<TestPage> {
    const context = await browser.newContext({
      viewport: sizes[size ?? "desktop"],
      colorScheme: theme ?? "light",
      locale: "en-US",
      permissions: ["clipboard-read", "clipboard-write"],
      reducedMotion: "reduce",
    });
    context.setDefaultTimeout(stepMs);
    const opened = new TestPage(context, await context.newPage());
    if (url !== undefined) await opened.page.goto(url);
    return opened;
  }

  /** Another tab in the same browser profile, with its cookies and stored chats. */
  async tab(url: string): Promise<Page> {
    const page = await this.context.newPage();
    this.#watch(page);
    await page.goto(url);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.close();
  }

  #watch(page: Page): void {
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.problems.push(message.text());
    });
    page.on("pageerror", (error) => this.problems.push(`${error.name}: ${error.message}`));
    page.on("request", (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (/^https?:$/.test(protocol) && hostname !== "127.0.0.1")
        this.problems.push(`requested another host: ${request.url()}`);
    });
  }
}
