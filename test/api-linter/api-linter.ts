// Our own protos follow the API Improvement Proposals, but for the exceptions in lint.yaml.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { hasPrograms } from "../openapi/programs.ts";

const here = import.meta.dirname;
const protos = path.resolve(here, "../../proto");

describe("api-linter", () => {
  it("finds nothing in proto/gatehouse", (t) => {
    if (!hasPrograms("go")) return t.skip("there is no Go");
    const files = globSync("gatehouse/**/*.proto", { cwd: protos });
    assert.notEqual(files.length, 0);
    const places = [protos, path.resolve(here, "../../node_modules/google-proto-files")];
    const options = ["--config", path.join(here, "lint.yaml"), "--set-exit-status", "--output-format", "summary"];
    const args = [...options, ...places.flatMap((place) => ["--proto-path", place]), ...files];
    const { status, stdout, stderr } = spawnSync("go", ["tool", "api-linter", ...args], {
      cwd: here,
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout + stderr);
  });
});
