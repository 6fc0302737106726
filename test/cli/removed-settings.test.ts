import assert from "node:assert/strict";
import { test } from "node:test";
import { removedSettings } from "../../src/cli/removed-settings.ts";
import { readSettings } from "../../src/config/read-settings.ts";

test("a removed setting with the value that still holds is accepted without a word, and another one with a warning", () => {
  const said = (environment: NodeJS.ProcessEnv) => removedSettings(readSettings({}, environment));
  assert.deepEqual(said({}), []);
  assert.deepEqual(said({ GATEHOUSE_FAST_PATH: "on" }), []);
  assert.deepEqual(said({ GATEHOUSE_FAST_PATH: "off" }), ["the setting fast-path has been removed and has no effect"]);
});
