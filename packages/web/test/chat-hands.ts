// What a person does on the chat page, by the names that a screen reader reads out.
import type { Locator, Page } from "playwright-core";

export class ChatHands {
  readonly page: Page;
  readonly composer: Locator;
  readonly send: Locator;
  readonly stop: Locator;
  /** Every answer that is shown, with its model's id as its name. */
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

  /** Leaves the conversation for an empty one. */
  async beginNew(): Promise<void> {
    await this.page.getByRole("button", { name: "New chat" }).click();
    await this.questions.first().waitFor({ state: "detached" });
  }

  /** Asks and waits until the answer is whole. */
  async askAndWait(text: string): Promise<string> {
    const before = await this.replies.count();
    await this.ask(text);
    return this.wholeReply(before);
  }

  /** The text of an answer once nothing is written any more; by its place from the top. */
  async wholeReply(at: number, options?: { timeout: number }): Promise<string> {
    const reply = this.replies.nth(at);
    await reply.and(this.page.locator('[aria-busy="false"]')).waitFor(options);
    await this.send.waitFor();
    return this.textOf(at);
  }

  async textOf(at: number): Promise<string> {
    const texts = await this.replies.nth(at).locator(".reply-text").allInnerTexts();
    return texts.join("\n");
  }

  /** Waits until an answer has begun. */
  async begun(at: number): Promise<void> {
    await this.replies.nth(at).locator(".reply-text").waitFor();
  }

  /** Picks the model that answers in this chat. */
  async choose(model: string): Promise<void> {
    await this.page.getByRole("button", { name: /^(Choose a model|Model: )/ }).click();
    await this.page
      .getByRole("menuitem", { name: model })
      .or(this.page.getByRole("menuitemradio", { name: model }))
      .first()
      .click();
  }
}
