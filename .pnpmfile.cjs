// node-llama-cpp is only the carrier of llama.cpp's sources (a git bundle inside its package);
// nothing of it is imported, so none of its dependencies is installed.
function readPackage(manifest) {
  if (manifest.name === "node-llama-cpp") {
    manifest.dependencies = {};
    manifest.optionalDependencies = {};
    manifest.peerDependencies = {};
    manifest.peerDependenciesMeta = {};
    manifest.scripts = {};
    manifest.bin = {};
  }
  return manifest;
}

module.exports = { hooks: { readPackage } };
