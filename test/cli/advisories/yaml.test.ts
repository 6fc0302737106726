// Advisories in YAML. All of them are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseText } from "../../../src/cli/advisories/document-text.ts";
import { read, types } from "./reading.ts";

describe("YAML", () => {
  const head = "schema-version: 2.0.2\npackage: {name: example-tool}\nadvisories:\n";
  const yaml = (text: string) => parseText("x.yaml", text, "auto");
  const detection = `
      - timestamp: 2030-01-02T03:04:05Z
        type: detection
        data:
          type: scan/v1
          data: {subpackageName: sub, componentID: "0011", componentName: example.test/lib, componentVersion: v1.0.0,
            componentType: go-module, componentLocation: /usr/bin/example, scanner: some-scanner}`;

  it("every advisory of the package, with all types of events", () => {
    const { found, problems } = read(
      yaml(`${head}  - id: CGA-2345-6789-cfgh
    aliases: [CVE-2030-1000001]
    events:${detection}
      - {timestamp: 2030-01-09T00:00:00Z, type: fixed, data: {fixed-version: 1.10}}
      - {timestamp: 2030-01-10, type: false-positive-determination, data: {type: vulnerable-code-not-in-execution-path, note: n}}
      - {timestamp: 2030-01-11T00:00:00Z, type: fix-not-planned, data: {note: n}}
      - {timestamp: 2030-01-12T00:00:00Z, type: analysis-not-planned, data: {note: n}}
      - {timestamp: 2030-01-13T00:00:00Z, type: pending-upstream-fix, data: {note: n}}
      - {timestamp: 2030-01-14T00:00:00Z, type: true-positive-determination}
      - {timestamp: 2030-01-15T00:00:00Z, type: detection, data: {type: nvdapi, data: {cpeSearched: a, cpeFound: b}}}
      - {timestamp: 2030-01-16T00:00:00Z, type: detection, data: {type: manual}}
      - {timestamp: 2030-01-17T00:00:00Z, type: fixed}
`),
    );
    assert.deepEqual(problems, []);
    const { events: _, ...advisory } = found[0];
    assert.deepEqual(advisory, {
      ...{ advisoryId: "CGA-2345-6789-cfgh", author: "yaml", artifactName: "example-tool", artifactType: "apk" },
      ...{ componentName: "example.test/lib", componentType: "go-module", componentLocation: "/usr/bin/example" },
      ...{ aliases: ["CVE-2030-1000001"], origin: "example-tool" },
    });
    assert.deepEqual(types(found[0]).slice(1), [
      { fixed: { fixedVersion: "1.10" } },
      { falsePositiveDetermination: { type: "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", note: "n" } },
      { fixNotPlanned: { note: "n" } },
      { analysisNotPlanned: { note: "n" } },
      { pendingUpstreamFix: { note: "n" } },
      { truePositiveDetermination: {} },
      { detection: { nvdapi: { cpeSearched: "a", cpeFound: "b" } } },
      { detection: { manual: {} } },
      { fixed: {} },
    ]);
    assert.deepEqual(types(found[0])[0].detection.scanv1, {
      ...{ scanner: "some-scanner", subpackage: "sub", componentId: "0011", component: "example.test/lib" },
      ...{ componentVersion: "v1.0.0", componentType: "go-module", componentLocation: "/usr/bin/example" },
    });
  });

  it("what is wrong is named, and the rest is read", () => {
    const advisory = (id: string, event: string) => `  - id: ${id}\n    aliases: [CVE-${id}]\n    events: [${event}]\n`;
    const fixed = "{timestamp: 2030-01-09T00:00:00Z, type: fixed}";
    const { found, problems } = read(
      yaml(
        head +
          advisory("A-1", fixed) +
          advisory("A-1", fixed) +
          advisory("A-3", "") +
          advisory("A-4", "{type: fixed}") +
          advisory("A-5", "{timestamp: soon, type: fixed}") +
          advisory("A-6", "{timestamp: 2030-01-09T00:00:00Z, type: solved}") +
          advisory("A-7", "{timestamp: 2030-01-09T00:00:00Z, type: detection, data: {type: x}}") +
          advisory("A-8", fixed),
      ),
    );
    assert.deepEqual(
      found.map(({ advisoryId }) => advisoryId),
      ["A-1", "A-8"],
    );
    assert.deepEqual(problems, [
      "A-1: A-1 is there twice",
      "A-3: it has no events",
      "A-4: timestamp is missing",
      'A-5: timestamp "soon" is no time',
      "A-6: the type of event solved is not known",
      "A-7: the type of detection x is not known",
    ]);
  });

  it("other versions of the format are refused", () => {
    assert.deepEqual(read(yaml("schema-version: 3\npackage: {name: a}")).problems, ["schema-version 3 is not known"]);
  });

  it("an alias that grows without end is no document", () => {
    const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (let i = 1; i < 12; i++)
      bomb.push(`${"abcdefghijklm"[i]}: &${"abcdefghijklm"[i]} [${`*${"abcdefghijklm"[i - 1]},`.repeat(9)}]`);
    assert.throws(() => yaml(bomb.join("\n")), /it is no YAML/);
  });
});
