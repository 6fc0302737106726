// CSAF 2.0, profile VEX: one document with a product for each artifact and version, and all vulnerabilities.
import { noteOf, otherIdsOf, type Published, vulnerabilityOf } from "../published.ts";
import { purlOf } from "../purl.ts";
import { justificationOf, reasonWord } from "../statuses.ts";

type Remedy = "vendor_fix" | "none_available" | "no_fix_planned" | "mitigation";

/** What an event becomes. */
interface Statement {
  readonly status: "fixed" | "known_affected" | "known_not_affected" | "under_investigation";
  readonly remedy?: readonly [category: Remedy, details: string];
  readonly flag?: string;
  /** Which of several events of one status it was. */
  readonly impact?: string;
}

function statementOf(event: Published["event"]): Statement | undefined {
  const note = noteOf(event);
  const { type } = event;
  switch (type.case) {
    case "fixed":
      return { status: "fixed", remedy: ["vendor_fix", `Update to version ${type.value.fixedVersion} or later.`] };
    case "patched":
      return { status: "fixed", remedy: ["vendor_fix", `Patched in ${type.value.patchedVersions.join(", ")}.`] };
    case "falsePositiveDetermination": {
      const impact = reasonWord(type.value.type);
      return {
        status: "known_not_affected",
        flag: justificationOf(type.value.type),
        ...(impact === "" ? {} : { impact }),
      };
    }
    case "detection":
      return { status: "under_investigation" };
    case "analysisNotPlanned":
      return { status: "under_investigation", impact: "analysis-not-planned" };
    case "truePositiveDetermination":
      return { status: "known_affected", remedy: ["mitigation", note || "No fix is available yet."] };
    case "pendingUpstreamFix":
      return { status: "known_affected", remedy: ["none_available", note || "A fix is awaited from upstream."] };
    case "fixNotPlanned":
      return { status: "known_affected", remedy: ["no_fix_planned", note || "No fix is planned."] };
    default:
      return undefined;
  }
}

/** Gravest first: where two advisories speak of one product, that is what holds. */
const gravity: readonly Statement["status"][] = [
  "known_affected",
  "under_investigation",
  "fixed",
  "known_not_affected",
];

/** Of one vulnerability: its ids, and what is said of each product. */
interface Gathered {
  readonly ids: Set<string>;
  readonly products: Map<string, Statement>;
}

/** Gathers a document from advisories. */
export function newCsaf(distribution: string) {
  const products = new Map<string, string>();
  const vulnerabilities = new Map<string, Gathered>();
  return {
    /** Answers whether the advisory has a place in the document. */
    add({ advisory, event }: Published): boolean {
      const statement = statementOf(event);
      if (!statement || advisory.artifactName === "") return false;
      const { artifactName: name, artifactType: type, artifactArchitecture: architecture, componentType } = advisory;
      const fixed = event.type.case === "fixed" ? event.type.value.fixedVersion : "";
      const purl = purlOf({ name, type, architecture }, componentType, distribution, fixed);
      products.set(purl, fixed === "" ? name : `${name} ${fixed}`);
      const id = vulnerabilityOf(advisory);
      const known = vulnerabilities.get(id) ?? { ids: new Set(), products: new Map() };
      vulnerabilities.set(id, known);
      for (const other of otherIdsOf(advisory)) known.ids.add(other);
      const before = known.products.get(purl);
      if (!before || gravity.indexOf(statement.status) < gravity.indexOf(before.status))
        known.products.set(purl, statement);
      return true;
    },
    document(author: string, namespace: string, time: string) {
      return {
        document: headOf(author, namespace, time),
        product_tree: {
          full_product_names: [...products].map(([purl, name]) => ({
            ...{ product_id: purl, name },
            product_identification_helper: { purl },
          })),
        },
        vulnerabilities: [...vulnerabilities].map(([id, gathered]) => vulnerabilityOfDocument(id, gathered)),
      };
    },
  };
}

function headOf(author: string, namespace: string, time: string) {
  return {
    ...{ category: "csaf_vex", csaf_version: "2.0", title: `Vulnerability status by ${author}` },
    publisher: { category: "vendor", name: author, namespace },
    tracking: {
      ...{ id: `gatehouse-${time}`, status: "final", version: "1" },
      ...{ initial_release_date: time, current_release_date: time },
      revision_history: [{ date: time, number: "1", summary: "Exported" }],
    },
  };
}

function vulnerabilityOfDocument(id: string, { ids, products }: Gathered) {
  const isCve = /^CVE-\d{4}-\d{4,}$/.test(id);
  const others = [...(isCve ? [] : [id]), ...ids];
  const statuses = Map.groupBy(products.keys(), (product) => products.get(product)!.status);
  const each = [...products];
  const remediations = each.flatMap(([product, { remedy }]) =>
    remedy ? [{ category: remedy[0], details: remedy[1], product_ids: [product] }] : [],
  );
  const flags = each.flatMap(([product, { flag }]) => (flag ? [{ label: flag, product_ids: [product] }] : []));
  const threats = each.flatMap(([product, { impact }]) =>
    impact ? [{ category: "impact", details: impact, product_ids: [product] }] : [],
  );
  return {
    ...(isCve ? { cve: id } : {}),
    ...(others.length > 0 ? { ids: others.map((text) => ({ system_name: text.split("-")[0], text })) } : {}),
    notes: [{ category: "summary", text: `The status of products with regard to ${id}.` }],
    product_status: Object.fromEntries(statuses),
    ...(remediations.length > 0 ? { remediations } : {}),
    ...(flags.length > 0 ? { flags } : {}),
    ...(threats.length > 0 ? { threats } : {}),
  };
}
