// How the files of a bundle become a startup snapshot: a heap in which they are loaded already, which Node takes for its own
// (docs/decisions/0016).
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { compiledCode, flags, heapFlag, snapshotFile } from "./place.js";

/**
 * Writes the snapshot beside the files that it is made of. Throws with what Node says when one of them does on being loaded
 * what a snapshot cannot hold: open something, or load a package.
 *
 * @param {string} directory
 */
export function buildSnapshot(directory) {
  const names = readdirSync(directory).filter((name) => name.endsWith(".cjs"));
  const script = path.join(directory, "snapshot.js");
  writeFileSync(script, scriptOf(names.map((name) => [name, readFileSync(path.join(directory, name), "utf8")])));
  const blob = path.join(directory, snapshotFile);
  const errors = path.join(directory, "snapshot.log");
  const log = openSync(errors, "w");
  try {
    // Warns of each built-in module that Node does not know to work in a snapshot; the tests of the bundle know.
    execFileSync(process.execPath, [...flags, "--no-warnings", "--snapshot-blob", blob, "--build-snapshot", script], {
      stdio: ["ignore", "ignore", log],
    });
  } catch (error) {
    throw new Error(readFileSync(errors, "utf8") || error.message);
  } finally {
    closeSync(log);
    rmSync(errors);
  }
}

/** Node makes snapshots of one script: each file is a function in it, as CommonJS has them. */
function scriptOf(files) {
  const functions = files.map(
    ([name, text]) => `${JSON.stringify(`./${name}`)}(exports, require, module, __filename, __dirname) {\n${text}\n}`,
  );
  const surroundings = JSON.stringify({ compiledCode, heapFlag });
  return `(${load})({\n${functions.join(",\n")}\n}, require, __dirname, ${surroundings});\n`;
}

/** Loads the bundle from its files, as functions by name. Its text becomes part of the script: it has nothing from around it. */
function load(files, requireBuiltin, directory, { compiledCode, heapFlag }) {
  const { fstatSync } = requireBuiltin("node:fs");
  const { createRequire, enableCompileCache, isBuiltin } = requireBuiltin("node:module");
  const { setFlagsFromString, startupSnapshot } = requireBuiltin("node:v8");
  // Node makes a socket of a pipe, and V8 has all sockets that a snapshot's process makes begin with as few properties as those
  // in the snapshot had in the end: each would be a slow object, which is a fifteenth of what a request costs.
  for (const stream of [0, 1, 2].map((descriptor) => fstatSync(descriptor)))
    if (stream.isFIFO() || stream.isSocket()) throw new Error("a snapshot is made without pipes");
  const modules = new Map();
  let requirePackage = (id) => {
    throw new Error(`a package cannot be in a snapshot, so it must not be loaded at once: ${id}`);
  };

  const require = (id) => {
    const file = files[id];
    if (file === undefined) return isBuiltin(id) ? process.getBuiltinModule(id) : requirePackage(id);
    const known = modules.get(id);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(id, module);
    try {
      file(module.exports, require, module, `${directory}/${id.slice(2)}`, directory);
    } catch (error) {
      // Whoever asks next tries again: what it needs may be there then, such as a file that can be opened.
      modules.delete(id);
      throw error;
    }
    return module.exports;
  };

  const { main } = require("./main.cjs");
  require("./bundle-prepare.cjs").prepare();
  startupSnapshot.setDeserializeMainFunction(() => {
    // As in gatehouse.js, whose listener ended with its program. Only servers begin with a snapshot.
    process.on("SIGHUP", () => {});
    setFlagsFromString(heapFlag);
    enableCompileCache(compiledCode);
    requirePackage = createRequire(`${directory}/main.cjs`);
    main(process.argv.slice(2));
  });
}
