// English of the first start, before there is a model.
export const firstRunEn = {
  title: "Choose your first model",
  text: "Models run on this machine. Nothing that you write leaves it.",
  looking: "Looking for a model that fits this machine…",
  why: {
    used_last: "You used it last.",
    added_last: "You added it last.",
    largest_that_fits: "A good small model that this machine has room for.",
    starter:
      "A small starter model that runs anywhere. It is quick and often wrong; the library has better ones.",
  },
  hub: {
    asked: "",
    not_asked: "",
    offline: "Ingle was told to stay offline, so the hub was not asked for a better one.",
    silent: "The model hub did not answer, so this one comes from the npm registry.",
    refused: "The model hub has none to give, so this one comes from the npm registry.",
    no_memory: "This machine has too little memory for a larger one.",
  },
  size: (size: string) => `${size} to download`,
  license: (license: string) => `License: ${license}`,
  get: "Download",
  getModel: (model: string) => `Download ${model}`,
  preparing: "Preparing the download…",
  chatNow: "Start chatting",
  chatHint: "The model is loaded with your first message.",
  paused: "The download is paused.",
  failed: "The download failed.",
  unreachable: "No model can be recommended right now.",
  others: "Other models",
};
