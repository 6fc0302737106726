// The systemd unit, as systemd itself reads it. It cannot be started here: that needs a machine that systemd has booted.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { settingsNamed } from "./settings-named.ts";

const folder = "deploy/systemd";
/** The highest exposure that the unit may have, in tenths, on the scale of systemd-analyze, which ends at 10. */
const maxExposure = 25;
const skip = spawnSync("systemd-analyze", ["--version"]).status === 0 ? false : "systemd-analyze is not installed";

describe("the systemd unit", () => {
  const temporary = mkdtempSync(path.join(tmpdir(), "gatehouse-systemd-"));
  after(() => rmSync(temporary, { recursive: true, force: true }));
  const unit = path.join(temporary, "gatehouse.service");
  // systemd-analyze looks for the program, which is not installed here.
  const text = readFileSync(`${folder}/gatehouse.service`, "utf8");
  writeFileSync(unit, text.replace("ExecStart=gatehouse ", `ExecStart=${process.execPath} `));

  it("the unit is valid", { skip }, () => {
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
    // Units of the machine may have complaints of their own.
    const complaints = stderr.split("\n").filter((line) => line.includes("gatehouse"));
    assert.deepEqual([status, complaints], [0, []]);
  });

  it("systemd-analyze rates the exposure of the unit as low", { skip }, () => {
    const args = ["security", "--offline=true", "--no-pager", `--threshold=${maxExposure}`, unit];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
  });

  it("the unit and its example of variables set existing settings only", () => {
    const example = readFileSync(`${folder}/gatehouse.env.example`, "utf8");
    const { named, unknown } = settingsNamed(text, example);
    assert.ok(named > 5);
    assert.deepEqual(unknown, []);
  });
});
