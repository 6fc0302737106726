// Documents of every format. All of them are made up.

/** An OSV record. */
export const record = (i: number, changes: object = {}) => ({
  id: `GO-2030-${1000 + i}`,
  modified: "2030-02-01T00:00:00Z",
  published: "2030-01-01T00:00:00Z",
  aliases: [`CVE-2030-${100_000 + i}`],
  severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H" }],
  affected: [
    {
      package: { ecosystem: "Go", name: `example.test/m${i % 7}` },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: `1.${i}` }] }],
    },
  ],
  ...changes,
});

/** Four advisories. */
export const secdb = {
  apkurl: "x",
  archs: ["x86_64", "aarch64"],
  reponame: "os",
  urlprefix: "https://p.example",
  packages: [
    { pkg: { name: "a", secfixes: { "1-r0": ["CVE-2030-1", "CVE-2030-2"], "0": ["CVE-2030-3"] } } },
    { pkg: { name: "b", secfixes: { "2-r0": ["CVE-2030-1 GHSA-1"] } } },
  ],
};

/** Three advisories. */
export const vex = {
  "@context": "https://openvex.dev/ns/v0.2.0",
  author: "Team",
  timestamp: "2030-01-01T00:00:00Z",
  statements: ["affected", "not_affected", "fixed"].map((status, i) => ({
    vulnerability: { name: `CVE-2030-${i}` },
    status,
    products: [{ "@id": "pkg:apk/wolfi/v@1-r0" }],
  })),
};

/** Two advisories. */
export const csaf = {
  document: {
    csaf_version: "2.0",
    publisher: { name: "Vendor" },
    tracking: { id: "VENDOR-2030-1", current_release_date: "2030-01-01T00:00:00Z" },
  },
  product_tree: { full_product_names: [{ product_id: "p", name: "Box" }] },
  vulnerabilities: [
    {
      cve: "CVE-2030-1001",
      product_status: { known_affected: ["p"] },
      remediations: [{ category: "no_fix_planned", details: "d", product_ids: ["p"] }],
    },
    { cve: "CVE-2030-1002", product_status: { under_investigation: ["p"] } },
  ],
};

/** Two advisories. */
export const yaml = `schema-version: 2.0.2
package: {name: tool}
advisories:
  - id: CGA-2345-6789-cfgh
    aliases: [CVE-2030-1000001]
    events: [{timestamp: 2030-01-09T00:00:00Z, type: fixed, data: {fixed-version: 1.10}}]
  - id: CGA-2345-6789-cfgj
    aliases: [CVE-2030-1000002]
    events: [{timestamp: 2030-01-09T00:00:00Z, type: pending-upstream-fix, data: {note: later}}]
`;
