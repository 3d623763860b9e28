// Caches the page's shell, so that it opens and reports that its server is gone. It never handles /v1 or /api.
// Plain JavaScript without imports: a service worker has a fixed URL and is not bundled.
const cacheName = "ingle-shell";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  const scope = new URL(self.registration.scope).pathname;
  const name = url.pathname.slice(scope.length);
  // A query may contain a token, so it goes only to the server.
  if (request.mode === "navigate" && name === "" && url.search === "") event.respondWith(shell(request));
  else if (/^(assets\/|icon|manifest)/.test(name)) event.respondWith(asset(request));
});

/** The page from the server, or the cached one while the server is gone. A new page clears the cache of the old one. */
async function shell(request) {
  const cache = await caches.open(cacheName);
  const cached = await cache.match(request.url);
  try {
    const response = await fetch(request);
    if (!response.ok || response.redirected) return response;
    const text = await response.clone().text();
    if (cached === undefined || (await cached.clone().text()) !== text) await clear(cache);
    await cache.put(request.url, response.clone());
    return response;
  } catch (error) {
    if (cached === undefined) throw error;
    return cached;
  }
}

/** Files with a hash in their name never change, so a cached one is current. */
async function asset(request) {
  const cache = await caches.open(cacheName);
  const cached = await cache.match(request.url);
  if (cached !== undefined) return cached;
  const response = await fetch(request);
  if (response.ok) await cache.put(request.url, response.clone());
  return response;
}

async function clear(cache) {
  for (const request of await cache.keys()) await cache.delete(request);
}
