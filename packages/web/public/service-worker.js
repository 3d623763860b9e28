// Keeps the page's shell, so that it opens and says that its server is gone. It never touches /v1 or /api.
// Plain JavaScript without imports: a service worker is fetched by its own fixed name and is not bundled.
const cacheName = "ingle-shell";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  const scope = new URL(self.registration.scope).pathname;
  const name = url.pathname.slice(scope.length);
  // An address with a query may carry a token: it goes to the server alone.
  if (request.mode === "navigate" && name === "" && url.search === "") event.respondWith(shell(request));
  else if (/^(assets\/|icon|manifest)/.test(name)) event.respondWith(asset(request));
});

/** The page from the server; the kept one while the server is gone. A new page forgets the files of the old one. */
async function shell(request) {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(request.url);
  try {
    const response = await fetch(request);
    if (!response.ok || response.redirected) return response;
    const text = await response.clone().text();
    if (kept === undefined || (await kept.clone().text()) !== text) await forgetAll(cache);
    await cache.put(request.url, response.clone());
    return response;
  } catch (error) {
    if (kept === undefined) throw error;
    return kept;
  }
}

/** Files with a hash in their name never change: the kept one is as good as the server's. */
async function asset(request) {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(request.url);
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(request.url, response.clone());
  return response;
}

async function forgetAll(cache) {
  for (const request of await cache.keys()) await cache.delete(request);
}
