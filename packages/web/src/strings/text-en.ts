// English of the plain-text page.
export const textEn = {
  title: "Plain text",
  intro:
    "Without a chat: the model goes on with whatever stands here. Underlined tokens were less likely; choose one to see what else it might have been.",
  text: "Text",
  placeholder: "Once upon a time",
  tokens: "Tokens to write",
  tokensHint: "The model may end sooner.",
  writeOn: "Write on",
  stop: "Stop",
  edit: "Edit the text",
  showTokens: "Show tokens",
  clear: "Clear",
  chooseToken: "Choose a token that the model wrote to see the likeliest ones in its place.",
  alternatives: "Other tokens",
  insteadOf: (token: string) => `In the place of ${token}`,
  alternativesHint: "Choosing one cuts the text there and goes on from it.",
  ended: "The model wrote nothing: to it, the text ends here.",
  written: "The model has written on.",
};
