// The page object of the chat page. Finds elements by their accessible names.
import type { Locator, Page } from "playwright-core";

export class ChatPage {
  readonly page: Page;
  readonly composer: Locator;
  readonly send: Locator;
  readonly stop: Locator;
  /** The visible replies, each named after its model. */
  readonly replies: Locator;
  readonly questions: Locator;

  constructor(page: Page) {
    this.page = page;
    this.composer = page.getByRole("textbox", { name: "Message", exact: true });
    this.send = page.getByRole("button", { name: "Send", exact: true });
    this.stop = page.getByRole("button", { name: "Stop", exact: true });
    this.replies = page.locator("article.reply");
    this.questions = page.getByRole("article", { name: "You" });
  }

  async ask(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.send.click();
  }

  /** Starts an empty chat. */
  async beginNew(): Promise<void> {
    await this.page.getByRole("button", { name: "New chat" }).click();
    await this.questions.first().waitFor({ state: "detached" });
  }

  /** Sends a message and waits for the whole reply. */
  async askAndWait(text: string): Promise<string> {
    const before = await this.replies.count();
    await this.ask(text);
    return this.wholeReply(before);
  }

  /** Waits for the end of all replies, and returns the text of one, counted from the top. */
  async wholeReply(at: number, options?: { timeout: number }): Promise<string> {
    const reply = this.replies.nth(at);
    await reply.and(this.page.locator('[aria-busy="false"]')).waitFor(options);
    await this.send.waitFor();
    return this.replyText(at);
  }

  async replyText(at: number): Promise<string> {
    const parts = this.replies.nth(at).locator(".reply-text");
    for (;;) {
      await this.drawn();
      const text = (await parts.allInnerTexts()).join("\n");
      const isDrawn = text !== "" || (await parts.allTextContents()).join("").trim() === "";
      if (isDrawn) return text;
    }
  }

  /**
   * Waits for two frames. The `innerText` of a message is empty until the browser has drawn it once, since it has
   * `content-visibility: auto`.
   */
  async drawn(): Promise<void> {
    await this.page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
  }

  /** Waits until a reply has text. */
  async begun(at: number): Promise<void> {
    await this.replies.nth(at).locator(".reply-text").waitFor();
  }

  /** Chooses the model of this chat. */
  async choose(model: string): Promise<void> {
    await this.page.getByRole("button", { name: /^(Choose a model|Model: )/ }).click();
    await this.page
      .getByRole("menuitem", { name: model })
      .or(this.page.getByRole("menuitemradio", { name: model }))
      .first()
      .click();
  }

  async attach(name: string, mimeType: string, content: string | Buffer): Promise<void> {
    const input = this.page.locator('input[type="file"][aria-label="Attach files"]');
    await input.setInputFiles({ name, mimeType, buffer: Buffer.from(content) });
  }

  /** Imports an export of chats, given as its text or its data. */
  async importChats(archive: string | object): Promise<void> {
    const text = typeof archive === "string" ? archive : JSON.stringify(archive);
    await this.page
      .locator('input[type="file"][accept*="json"]')
      .first()
      .setInputFiles({ name: "chats.json", mimeType: "application/json", buffer: Buffer.from(text) });
  }
}
