// A seeded generator of CSAF documents that are valid: every kind of product, status and detail. All of them are made up.
import { newDraws } from "../osv/generated.ts";
import { csaf, type Json } from "./reading.ts";

type Draws = ReturnType<typeof newDraws>;

const statuses = [
  ["known_affected", "first_affected", "last_affected"],
  ["known_not_affected"],
  ["fixed", "first_fixed"],
  ["under_investigation"],
];
const labels = ["component_not_present", "vulnerable_code_not_present", "inline_mitigations_already_exist"];
const vectors = [
  {
    cvss_v3: {
      version: "3.1",
      vectorString: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
      baseScore: 9.8,
      baseSeverity: "CRITICAL",
    },
  },
  {
    cvss_v3: {
      version: "3.0",
      vectorString: "CVSS:3.0/AV:L/AC:H/PR:L/UI:R/S:U/C:L/I:N/A:N",
      baseScore: 2.2,
      baseSeverity: "LOW",
    },
  },
  { cvss_v2: { version: "2.0", vectorString: "AV:N/AC:L/Au:N/C:P/I:P/A:P", baseScore: 7.5 } },
];
const ranges = [
  "vers:npm/>=1|<2",
  "vers:npm/<1.5",
  "vers:generic/2|>=3|<=4",
  "vers:npm/>1",
  "vers:npm/*",
  "all before V2",
  "<4.2",
];

/** Returns a document; the same seed gives the same document. Those of even seeds keep the rules of the profile VEX. */
export function generatedDocument(seed: number): Json {
  const draws = newDraws(seed);
  const tree = newTree(draws);
  const ids = [...tree.ids];
  const vulnerabilities = Array.from({ length: 1 + draws.below(3) }, (_, i) =>
    newVulnerability(draws, i, ids, tree.groups, seed % 2 === 0),
  );
  return csaf(vulnerabilities, tree.json, seed % 2 === 0 ? {} : { category: "csaf_base" });
}

function newTree(draws: Draws) {
  const ids: string[] = [];
  const product = (): Json => {
    const id = `P${ids.length}`;
    ids.push(id);
    const name = draws.oneIn(6) ? "Same name" : `Product ${id}`;
    const helpers: Json = {
      ...(draws.oneIn(2) && { purl: newPurl(draws) }),
      ...(draws.oneIn(4) && {
        cpe: draws.pick([
          "cpe:/a:acme:box:1",
          "cpe:2.3:a:acme:box:*:*:*:*:*:*:*:*",
          "cpe:2.3:o:acme:os:2:*:*:*:*:*:*:*",
        ]),
      }),
      ...(draws.oneIn(6) && {
        hashes: [{ filename: "a", file_hashes: [{ algorithm: "sha256", value: "0".repeat(64) }] }],
      }),
      ...(draws.oneIn(6) && { model_numbers: ["M-1"], serial_numbers: ["S-?"], skus: ["K"] }),
      ...(draws.oneIn(8) && {
        sbom_urls: ["https://acme.example/sbom"],
        x_generic_uris: [{ namespace: "urn:x", uri: "urn:x:1" }],
      }),
    };
    return { product_id: id, name, ...(Object.keys(helpers).length > 0 && { product_identification_helper: helpers }) };
  };
  const names = Array.from({ length: 1 + draws.below(4) }, product);
  const leaf = () =>
    draws.oneIn(2)
      ? { category: "product_version", name: draws.pick(["1.0", "2.0", "1:3-4"]), product: product() }
      : { category: "product_version_range", name: draws.pick(ranges), product: product() };
  const inner = (): Json => ({
    category: "product_name",
    name: draws.pick(["Box", "Acme Tool"]),
    branches: Array.from({ length: 1 + draws.below(3) }, leaf),
  });
  const branches = [
    { category: "vendor", name: "Acme", branches: Array.from({ length: 1 + draws.below(2) }, inner) },
    ...(draws.oneIn(3) ? [{ category: "architecture", name: "x86", product: product() }] : []),
  ];
  const relationships = Array.from({ length: draws.below(5) }, () => {
    const [part, whole] = [draws.pick(ids), draws.pick(ids)];
    const category = draws.pick([
      "default_component_of",
      "optional_component_of",
      "external_component_of",
      "installed_on",
      "installed_with",
    ]);
    return { category, full_product_name: product(), product_reference: part, relates_to_product_reference: whole };
  });
  const groups = [{ group_id: "G", product_ids: ids.slice(0, 2) }].filter(
    ({ product_ids: products }) => products.length > 1,
  );
  const json = {
    full_product_names: names,
    branches,
    ...(relationships.length > 0 && { relationships }),
    ...(groups.length > 0 && { product_groups: groups }),
  };
  return { json, ids, groups };
}

function newPurl(draws: Draws): string {
  const version = draws.oneIn(3) ? "" : draws.pick(["@1.0", "@2.0", "@1%2B2"]);
  const name = draws.pick(["npm/box", "npm/%40acme/tool", "rpm/acme/lib", "oci/image"]);
  const qualifiers = name.startsWith("npm") ? "" : draws.pick(["", "?arch=x86_64", "?arch=src&epoch=1"]);
  return `pkg:${name}${version}${qualifiers}`;
}

function newVulnerability(
  draws: Draws,
  index: number,
  ids: readonly string[],
  groups: readonly Json[],
  isVex: boolean,
): Json {
  const status: Record<string, string[]> = {};
  const group = new Map<string, number>();
  for (const id of ids) {
    if (group.size > 0 && draws.oneIn(4)) continue;
    const number = draws.below(statuses.length);
    group.set(id, number);
    const [first, ...others] = statuses[number]!;
    const words =
      isVex || draws.oneIn(2) ? [first!, ...others.filter(() => draws.oneIn(3))] : [draws.pick(statuses[number]!)];
    if (draws.oneIn(6)) words.push("recommended");
    for (const word of words) status[word] = [...(status[word] ?? []), id];
  }
  const stated = [...group.keys()];
  const some = () => stated.filter(() => draws.oneIn(2));
  const of = (products: readonly string[], item: Json) =>
    products.length > 0 ? [{ ...item, product_ids: products }] : [];
  const unflagged = new Set(stated.filter((id) => group.get(id) === 1));
  const flags = labels.flatMap((label) => {
    const products = [...unflagged].filter(() => draws.oneIn(3));
    for (const id of products) unflagged.delete(id);
    return of(products, { label, ...(draws.oneIn(2) && { date: "2030-01-02T00:00:00Z" }) });
  });
  const grouped = groups.filter(({ product_ids: products }) => products.every((id: string) => group.has(id)));
  const threats = [
    ...of(isVex ? [...unflagged] : some(), { category: "impact", details: "no impact" }),
    ...of(some(), { category: "exploit_status", details: "none known" }),
    ...(draws.oneIn(3) ? [{ category: "impact", details: "about all" }] : []),
    ...(draws.oneIn(3)
      ? grouped.map(({ group_id: id }) => ({ category: "target_set", details: "everyone", group_ids: [id] }))
      : []),
  ];
  const affected = stated.filter((id) => group.get(id) === 0);
  const remediations = [
    ...of(isVex ? affected : some(), {
      category: draws.pick(["none_available", "no_fix_planned", "mitigation", "workaround"]),
      details: "do nothing",
    }),
    ...of(some(), {
      category: "vendor_fix",
      details: "update",
      url: "https://acme.example/fix",
      date: "2030-01-05T00:00:00Z",
      restart_required: { category: "system" },
    }),
  ];
  const scores = [draws.pick(vectors)].flatMap((score) => {
    const products = some();
    return products.length > 0 ? [{ ...score, products }] : [];
  });
  const lists = { flags, threats, remediations, scores };
  return {
    ...(draws.oneIn(2) || isVex ? { cve: `CVE-2030-${1000 + index}` } : {}),
    ...(draws.oneIn(2)
      ? {
          ids: [
            { system_name: "Tracker", text: `T-${index}?x=1` },
            { system_name: "Other", text: "id with blanks" },
          ],
        }
      : {}),
    ...(isVex || draws.oneIn(2)
      ? {
          notes: [
            { category: "description", text: "d" },
            { category: "other", text: "o", title: "t" },
          ],
        }
      : {}),
    ...(draws.oneIn(2) && {
      title: "t",
      cwe: {
        id: "CWE-79",
        name: "Improper Neutralization of Input During Web Page Generation ('Cross-site Scripting')",
      },
    }),
    ...(draws.oneIn(2) && { release_date: "2030-01-01T00:00:00.123456Z", discovery_date: "2029-12-01T00:00:00+02:00" }),
    ...(draws.oneIn(2) && {
      references: [
        { category: "self", url: "https://acme.example/1", summary: "s" },
        { url: "https://acme.example/2", summary: "s" },
      ],
    }),
    ...(draws.oneIn(3) && {
      involvements: [{ party: "vendor", status: "completed", date: "2030-01-01T00:00:00Z" }],
      acknowledgments: [{ names: ["A"] }],
    }),
    product_status: status,
    ...Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0)),
  };
}
