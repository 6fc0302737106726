// Images with packages, and advisories about them, for tests of findings.
import assert from "node:assert/strict";
import { toJson } from "@bufbuild/protobuf";
import { AdvisoryRecordSchema } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { readDocument } from "../../src/advisories/formats.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { until } from "../harness/until.ts";
import { cycloneDx, imageDigest } from "../sboms/documents.ts";

export type Json = Record<string, unknown>;

/** Returns a record of OSV about an npm package that one version fixes. */
export function osv(id: string, name: string, fixed: string, changes: Json = {}): Json {
  const ranges = [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed }] }];
  const affected = [{ package: { ecosystem: "npm", name }, ranges }];
  return { id, modified: "2030-01-02T03:04:05Z", aliases: [`CVE-${id}`], affected, ...changes };
}

/** A severity that is critical. */
export const critical = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };

/** Returns functions that add images and advisories to a server. */
export function findingsOn(server: TestServer) {
  let revision = 0;

  const call = (method: string, path: string, body?: object, token = server.ownerToken) =>
    rest(server.url, token, method, path, body);

  /** Imports documents of OSV or OpenVEX as they are. */
  async function importAsIs(group: string, ...documents: readonly Json[]): Promise<void> {
    const items = documents.flatMap((document) => [...readDocument(document, "auto", { source: "" }).items]);
    const records = items.flatMap(({ record }) => (record ? [toJson(AdvisoryRecordSchema, record)] : []));
    const { body } = await call("POST", `/gatehouse/vulnerabilities/v1/records/${group}:import`, { records });
    for (const result of body.results) assert.equal(result.error ?? "", "", JSON.stringify(body));
  }

  return {
    call,
    importAsIs,

    /** Imports documents of OSV. Each time they are newer than before. */
    async importAll(group: string, ...documents: readonly Json[]): Promise<void> {
      revision += 1;
      const modified = new Date(Date.UTC(2030, 0, 2) + revision * 60_000).toISOString();
      await importAsIs(group, ...documents.map((document) => ({ ...document, modified })));
    },

    /** Adds a repo with an image and its SBOM. */
    async newImage(group: string, name: string, purls: readonly string[], digest = imageDigest) {
      const { uid } = (await call("POST", `/registry/v2beta1/repos/${group}`, { name })).body;
      await call("POST", `/registry/v2beta1/tags/${uid}`, { name: "1.0", digest });
      const content = Buffer.from(JSON.stringify(cycloneDx(purls))).toString("base64");
      const base = `/gatehouse/registry/v1/images/${uid}`;
      await call("POST", `${base}:putSbom`, { digest, content });
      const list = async (more = "", token?: string) =>
        (await call("GET", `${base}:listFindings?digest=${digest}${more}`, undefined, token)).body;
      return { uid, list };
    },

    /** Waits until the findings of an image are these, each as its vulnerability and package URL. */
    async become(list: () => Promise<Json>, expected: readonly string[]): Promise<void> {
      let last: unknown;
      await until(expected.join(", ") || "no findings", async () => {
        const { state, findings } = await list();
        last = (findings as Json[] | undefined)?.map(({ vulnerability, purl }) => `${vulnerability} ${purl}`) ?? [];
        const isDone = state === "CHECK_STATE_CHECKED" && JSON.stringify(last) === JSON.stringify(expected);
        return isDone ? true : undefined;
      }).catch(() => assert.deepEqual(last, expected));
    },
  };
}
