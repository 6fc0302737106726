// A seeded generator of OpenVEX documents, and a reader of them that knows nothing of ours. All of them are made up.
import { newDraws } from "../osv/generated.ts";
import { document, type Json } from "./exchange.ts";

type Draws = ReturnType<typeof newDraws>;

const bases: readonly (readonly [purl: string, qualifiers: string])[] = [
  ["pkg:apk/wolfi/tool", ""],
  ["pkg:apk/alpine/tool", "?arch=x86_64"],
  ["pkg:oci/image", "?repository_url=registry.example%2Fa"],
  ["pkg:oci/image", "?repository_url=registry.example%2Fb"],
  ["pkg:npm/%40scope/name", ""],
  ["pkg:npm/@scope/name", ""],
  ["pkg:golang/example.test/Lib", "#cmd/x"],
  ["pkg:PyPI/Snake_Case", ""],
];
const versions = ["", "1.2-r0", "2.0.0", "sha256%3Aabcd"];
const parts = ["pkg:golang/example.test/a@v1.0.0", "pkg:npm/b", "part"];
const statuses = ["affected", "fixed", "not_affected", "under_investigation"];

function component(draws: Draws): Json {
  const [purl, qualifiers] = draws.pick(bases);
  const version = draws.pick(versions);
  const id = purl + (version === "" ? "" : `@${version}`) + qualifiers;
  switch (draws.below(12)) {
    case 0:
      return { identifiers: { cpe23: `cpe:2.3:a:x:${draws.pick(["a", "b"])}:1:*:*:*:*:*:*:*` } };
    case 1:
      return { "@id": `https://product.example/${draws.below(2)}`, hashes: { "sha-256": "00", md5: "11" } };
    case 2:
      return { hashes: { "sha-512": "00" }, supplier: "Supplier" };
    case 3:
      return { "@id": "https://product.example/x", identifiers: { purl: id, cpe22: "cpe:/a:x" } };
    default:
      return { "@id": id };
  }
}

function product(draws: Draws): Json {
  const subcomponents = parts.filter(() => draws.oneIn(5)).map((part) => ({ "@id": part }));
  return { ...component(draws), ...(subcomponents.length > 0 ? { subcomponents } : {}) };
}

function statement(draws: Draws, time: string | undefined, simple: boolean): Json {
  const status = draws.pick(statuses);
  const some = (name: string, value: unknown, of = 4) => (!simple && draws.oneIn(of) ? { [name]: value } : {});
  const n = draws.below(3);
  return {
    ...some("@id", `https://vex.example/#${draws.below(99)}`),
    ...some("version", 2),
    ...some("supplier", "S"),
    vulnerability: {
      name: `CVE-2030-${n}`,
      ...some("@id", `https://nvd.example/${draws.below(2)}`),
      ...some("description", `text ${draws.below(2)}`),
      ...some("aliases", [`GHSA-${n}`, `GO-${draws.below(2)}`]),
    },
    ...(time === undefined ? {} : { timestamp: time }),
    ...some("last_updated", "2030-05-05T00:00:00.123456789Z"),
    ...some("status_notes", "No analysis is planned. n"),
    ...some("action_statement", draws.pick(["wait", "No fix is planned."]), 2),
    ...some("impact_statement", "i"),
    ...some("justification", "component_not_present"),
    ...some("action_statement_timestamp", "2030-06-01T00:00:00Z"),
    status,
    products: Array.from({ length: 1 + draws.below(3) }, () => product(draws)),
  };
}

/** Returns a document with everything that OpenVEX has. Its statements may have one time, or that of the document. */
export function generatedDocument(seed: number): Json {
  const draws = newDraws(seed);
  const statements = Array.from({ length: 1 + draws.below(12) }, () => {
    const day = draws.below(4);
    return statement(draws, day === 0 ? undefined : `2030-02-0${day}T00:00:00${draws.pick(["Z", "+02:00"])}`, false);
  });
  // Some statements are there twice.
  return document(draws.oneIn(2) ? [...statements, statements[0]] : statements);
}

/** Documents of two sources that speak of the same, each statement at a time of its own. */
export function generatedPair(seed: number): Json[] {
  const draws = newDraws(seed);
  const days = Array.from({ length: 28 }, (_, i) => i).sort(() => draws.below(3) - 1);
  return ["A", "B"].map((author) => {
    const count = 1 + draws.below(6);
    const time = () => `2030-02-${String((days.pop() ?? 0) + 1).padStart(2, "0")}T00:00:00Z`;
    const statements = Array.from({ length: count }, () => statement(draws, time(), true));
    for (const each of statements) {
      each.vulnerability = { name: "CVE-2030-1" };
      each.products = each.products.map(({ subcomponents }: Json) => ({
        "@id": `pkg:oci/image${draws.pick(["", "@1", "@2"])}`,
        ...(subcomponents && { subcomponents }),
      }));
    }
    return document(statements, { author, "@id": `https://vex.example/${author}` });
  });
}

/** One product in one statement, which has the time of the document if it has none. */
export interface Said {
  readonly product: Json;
  readonly status: string;
  readonly time: string;
  readonly vulnerability: string;
  /** All else that the statement says. */
  readonly more: Json;
}

/** Returns a document's statements about each product. Statements on a vulnerability share its data. */
export function saidBy(vex: Json): Said[] {
  const about = new Map<string, Json>();
  for (const { vulnerability: each } of vex.statements) {
    const known = about.get(each.name) ?? { aliases: [] };
    about.set(each.name, {
      ...each,
      ...known,
      aliases: [...new Set([...known.aliases, ...(each.aliases ?? [])])].sort(),
    });
  }
  return vex.statements.flatMap(
    ({ products, status, timestamp, vulnerability, "@id": _, version: _v, ...more }: Json) =>
      products.map((product: Json) => {
        const whole = {
          ...about.get(vulnerability.name),
          ...vulnerability,
          aliases: about.get(vulnerability.name).aliases,
        };
        const time = timestamp ?? vex.timestamp;
        return { product, status, time, vulnerability: vulnerability.name, more: { ...required(status, more), whole } };
      }),
  );
}

/**
 * Returns the members that the specification requires of a status and the statement lacks, and moves texts of another status to the
 * notes.
 */
function required(status: string, said: Json): Json {
  const { justification, impact_statement: impact, action_statement: action, status_notes: notes, ...more } = said;
  const noted = (...texts: string[]) => {
    const lines = texts.filter((text) => text !== undefined);
    return lines.length > 0 ? { status_notes: lines.join("\n") } : {};
  };
  if (status === "affected")
    return { ...more, action_statement: action ?? "No action statement provided", ...noted(notes, impact) };
  if (status !== "not_affected") return { ...more, ...noted(notes, impact, action) };
  const reason = justification ? impact : (impact ?? "No justification or impact statement provided");
  return { ...more, justification, impact_statement: reason, ...noted(notes, action) };
}

/** Returns the status of the latest statement on a product, which is matched as by scanners: by its id, or all of its versions. */
export function effective(said: readonly Said[], id: string, part: string): string {
  const matches = said.filter(({ product }) => {
    const { "@id": own = "", subcomponents = [] } = product;
    const isOf = own === id || (own !== "" && !own.includes("@") && id.startsWith(`${own}@`));
    return isOf && (subcomponents.length === 0 || subcomponents.some((each: Json) => each["@id"] === part));
  });
  const latest = Math.max(...matches.map(({ time }) => Date.parse(time)));
  return matches.findLast(({ time }) => Date.parse(time) === latest)?.status ?? "";
}
