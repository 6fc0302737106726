// Evaluates an export for a version as a reader of its format understands it. Written independently of the product.
import { csafWords, cve, type Level, levels, osvLevel, purlOf, secdbLevel, worstOf } from "./documents.ts";

// biome-ignore lint/suspicious/noExplicitAny: documents of every shape
type Json = any;

/** By the format of the export. */
export const readers: Readonly<Record<string, (document: Json, version: number) => Level | undefined>> = {
  osv: (records, v) =>
    worstOf(records.flatMap(({ affected }: Json) => affected.map((item: Json) => osvLevel(item, v)))),
  openvex: openvexLevel,
  csaf: csafLevel,
  secdb({ packages }, v) {
    const fixes = packages.flatMap(({ pkg }: Json) => Object.entries(pkg.secfixes));
    return secdbLevel(
      fixes.filter(([, ids]: Json) => ids.includes(cve)).map(([fix]: Json) => Number(fix)),
      v,
    );
  },
};

/** The latest statement about the version or about all of them holds; of one time, the last one. */
function openvexLevel({ statements }: Json, v: number): Level | undefined {
  const about = statements.filter(({ products }: Json) =>
    products.some(({ "@id": id }: Json) => id === purlOf("") || id === purlOf(v)),
  );
  const timeOf = ({ timestamp }: Json) => Date.parse(timestamp ?? "2031-01-01T00:00:00Z");
  const last = about.toSorted((a: Json, b: Json) => timeOf(a) - timeOf(b)).at(-1);
  return levels.find((level) => level.replace(" ", "_") === last?.status);
}

function csafLevel({ product_tree: tree, vulnerabilities = [] }: Json, v: number): Level | undefined {
  const products = new Map<string, boolean>();
  const walk = ({ branches = [], category, name, product }: Json): void => {
    for (const branch of branches) walk(branch);
    if (product) products.set(product.product_id, isNamed(category, name, v));
  };
  for (const branch of tree?.branches ?? []) walk(branch);
  for (const { product_id: id } of tree?.full_product_names ?? []) products.set(id, true);
  const said = vulnerabilities.flatMap(({ product_status: statuses }: Json) =>
    levels.filter((level) => (statuses[csafWords[level]] ?? []).some((id: string) => products.get(id))),
  );
  return worstOf(said);
}

function isNamed(category: string, name: string, v: number): boolean {
  if (category === "product_version") return name === `${v}`;
  if (category !== "product_version_range") return true;
  const [, list = ""] = /^vers:apk\/(.*)$/.exec(name) ?? [];
  if (list === "*") return true;
  // Each lower end is followed by its upper end, if it has one.
  const bounds = [...list.matchAll(/(>=|<=|<)(\d+)/g)].map(([, sign, text]) => ({ sign, at: Number(text) }));
  const intervals = bounds.flatMap(({ sign, at }, i) => {
    if (sign === ">=") return [{ from: at, end: bounds[i + 1] }];
    return bounds[i - 1]?.sign === ">=" ? [] : [{ from: 0, end: { sign, at } }];
  });
  return intervals.some(({ from, end }) => v >= from && (!end || v < end.at || (end.sign === "<=" && v === end.at)));
}
