import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { replaceFile } from "../../src/cli/client/own-file.ts";
import { dataDirectory } from "./process.ts";

it("a file that cannot be written is named, and leaves no partial file", () => {
  using folder = dataDirectory();
  const file = path.join(folder.path, "refresh-token");
  mkdirSync(file);
  assert.throws(() => replaceFile(file, "token"), {
    name: "CommandFailure",
    message: /refresh-token cannot be written: /,
  });
  assert.deepEqual(readdirSync(folder.path), ["refresh-token"]);
  const below = path.join(import.meta.filename, "tokens", "refresh-token");
  assert.throws(() => replaceFile(below, "token"), { message: /refresh-token cannot be written: E/ });
});
