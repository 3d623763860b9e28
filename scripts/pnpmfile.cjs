// node-llama-cpp only delivers llama.cpp's sources (a git bundle inside its package); nothing is imported from it, so none of its
// dependencies are installed.
function readPackage(manifest) {
  if (manifest.name === "node-llama-cpp") {
    manifest.dependencies = {};
    manifest.optionalDependencies = {};
    manifest.peerDependencies = {};
    manifest.peerDependenciesMeta = {};
    manifest.scripts = {};
    manifest.bin = {};
  }
  // Only its tests are read, which are JSON.
  if (manifest.name === "json-schema-test-suite") manifest.dependencies = {};
  return manifest;
}

/**
 * The published manifest: without the fields that only a checkout needs, but with the repository of the release and with the
 * prebuilt engines, which a checkout builds itself.
 */
async function beforePacking({ devDependencies: _development, scripts: _scripts, ...manifest }) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  if (server !== undefined && repository !== undefined) {
    const directory = `packages/${manifest.name.replace("@ingle/", "")}`;
    manifest.repository = { type: "git", url: `git+${server}/${repository}.git`, directory };
  }
  if (manifest.name !== "@ingle/engine-native") return manifest;
  const { platformDependencies } = await import("@ingle/engine-native/platforms");
  return { ...manifest, ...platformDependencies(manifest.version) };
}

module.exports = { hooks: { readPackage, beforePacking } };
