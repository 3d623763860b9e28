// The HEALTHCHECK of the images: exits with 0 if the server in this container responds, otherwise with 1.
import http from "node:http";
import https from "node:https";

/** The first of these variables that is not empty. */
function setting(...names) {
  return names.map((name) => process.env[name]).find((value) => value !== undefined && value !== "");
}

const host = setting("INGLE_HOST", "HOST") ?? "0.0.0.0";
const { get } = setting("INGLE_TLS_CERT") === undefined ? http : https;
const request = get(
  {
    host: ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host,
    port: setting("INGLE_PORT", "PORT") ?? "8000",
    path: "/readyz",
    timeout: 4000,
    // The request uses loopback, which the certificate does not name.
    rejectUnauthorized: false,
  },
  (response) => process.exit(response.statusCode === 200 ? 0 : 1),
);
request.on("timeout", () => process.exit(1));
request.on("error", () => process.exit(1));
