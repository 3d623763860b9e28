// An environment in which a program finds only its own home, and a network only on this machine.

export function closedEnvironment(home: string): NodeJS.ProcessEnv {
  const nowhere = "http://127.0.0.1:9"; // the port that discards
  return {
    PATH: process.env["PATH"],
    HOME: home,
    LANG: "C.UTF-8",
    HTTPS_PROXY: nowhere,
    HTTP_PROXY: nowhere,
    NO_PROXY: "127.0.0.1,localhost",
    DO_NOT_TRACK: "1",
  };
}
