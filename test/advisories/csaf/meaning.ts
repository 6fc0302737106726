// Reduces a CSAF document to its meaning, independent of product ids, groups and order, to compare documents by.
import { canonicalJson } from "../../../src/advisories/extra.ts";
import { readPurl, writePurl } from "../../../src/advisories/purl.ts";
import type { Json } from "./reading.ts";

const kinds = ["flags", "threats", "remediations", "scores"];
const lists = ["ids", "notes", "references", "acknowledgments", "involvements"];

/** Returns the vulnerabilities with statuses, each as a text, in a canonical order. */
export function meaningOf(document: Json): Json[] {
  const describe = describer(document.product_tree ?? {});
  const groups = new Map<string, string[]>(
    (document.product_tree?.product_groups ?? []).map((group: Json) => [group.group_id, group.product_ids]),
  );
  const all = (document.vulnerabilities ?? []).filter(({ product_status: status }: Json) =>
    Object.values(status ?? {}).some((ids) => (ids as string[]).length > 0),
  );
  return sorted(all.map((vulnerability: Json) => meaningOfVulnerability(vulnerability, describe, groups)));
}

function meaningOfVulnerability(
  vulnerability: Json,
  describe: (id: string) => Json,
  groups: Map<string, string[]>,
): Json {
  const { product_status: status, ...members } = vulnerability;
  const stated = new Set(Object.values(status).flat() as string[]);
  const said = { ...members };
  for (const kind of kinds) {
    const items = (members[kind] ?? []).flatMap((item: Json) => {
      const { product_ids: own = [], products = [], group_ids: ids = [], ...rest } = item;
      const named = [...own, ...products, ...ids.flatMap((id: string) => groups.get(id) ?? [])];
      if (named.length === 0) return kind === "threats" ? [{ rest, product: "" }] : [];
      const known = named.filter((id) => stated.has(id));
      return known.map((id) => ({ rest, product: describe(id) }));
    });
    said[kind] = sorted([...new Map(items.map((item: Json) => [canonicalJson(item), item])).values()]);
  }
  for (const list of lists) said[list] = sorted(members[list] ?? []);
  const statuses = Object.entries(status).map(([word, ids]) => [
    word,
    sorted([...new Set((ids as string[]).map((id) => canonicalJson(describe(id))))]),
  ]);
  return { ...said, product_status: Object.fromEntries(statuses.filter(([, ids]) => ids!.length > 0)) };
}

function describer(tree: Json): (id: string) => Json {
  const found = new Map<string, Json>();
  const add = (product: Json, more: Json) => {
    const { purl, ...helper } = product.product_identification_helper ?? {};
    const parsed = purl === undefined ? undefined : readPurl(purl);
    const helpers = { ...helper, ...(parsed && { purl: writePurl(parsed) }) };
    if (!found.has(product.product_id)) found.set(product.product_id, { name: product.name?.trim(), ...more, helpers });
  };
  const walk = (branches: Json[] = [], path: Json[] = []) => {
    for (const { category, name, product, branches: inner } of branches) {
      const here = [...path, [category, name]];
      if (product) add(product, { path: here });
      walk(inner, here);
    }
  };
  for (const product of tree.full_product_names ?? []) add(product, {});
  walk(tree.branches);
  for (const { full_product_name: product, ...relationship } of tree.relationships ?? [])
    add(product, { relationship });
  const describe = (id: string): Json => {
    const { relationship, ...product } = found.get(id) ?? { name: `? ${id}` };
    if (!relationship) return product;
    const { category, product_reference: part, relates_to_product_reference: whole } = relationship;
    return { ...product, category, part: describe(part), whole: describe(whole) };
  };
  return describe;
}

function sorted(items: readonly Json[]): Json[] {
  return items.map((item) => canonicalJson(item)).sort();
}
