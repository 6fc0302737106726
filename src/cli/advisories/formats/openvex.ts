// OpenVEX 0.2.0: statements that say what products have to do with vulnerabilities.
import { isJsonObject, type JsonObject } from "../../../json.ts";
import { derivedId } from "../../../services/vulnerabilities/advisory-fields.ts";
import { BadDocument, list, members, requiredText, text, texts, time } from "../document.ts";
import { componentOfPurl } from "../libraries.ts";
import { artifactOf, ownComponentOf, parsePurl } from "../purl.ts";
import type { Reader } from "../reader.ts";
import type { EventType, Found } from "../record.ts";
import { eventWords, falsePositive, fixedIn, noted, reasonOf, reasonWords, underInvestigation } from "../statuses.ts";

/** Whether a document is of this format. */
export function isOpenvex(document: unknown): boolean {
  if (!isJsonObject(document)) return false;
  return Array.isArray(document.statements) || String(document["@context"]).startsWith("https://openvex.dev/");
}

/** Reads a document. Statements on one product and one vulnerability are events of one advisory. */
export const readOpenvex: Reader = function* (document, options) {
  const root = members(document, "the document");
  const author = options.author || text(root.author, "author") || "openvex";
  const at = time(root.timestamp, "timestamp");
  const modified = time(root.last_updated, "last_updated") ?? at;
  const advisories = new Map<string, Found>();
  for (const [i, statement] of list(root.statements, "statements").entries()) {
    const name = nameOf(statement) || `statement ${i + 1}`;
    yield {
      name,
      read() {
        for (const each of readStatement(members(statement, "a statement"), author)) {
          const known = advisories.get(each.id);
          advisories.set(each.id, known ? { ...known, events: [...known.events, ...each.events] } : each);
        }
        return [];
      },
    };
  }
  yield { name: "", read: () => [...advisories.values()].map((found) => dated(found, at, modified)) };
};

/**
 * Statements without a time have that of the document. Where all have, they say what is so in this version of the document, and
 * not since when; among others, they are as old as the document.
 */
function dated(found: Found, at: number | undefined, modified: number | undefined): Found {
  if (found.events.every((event) => event.time === undefined)) return { ...found, published: at, modified };
  return { ...found, events: found.events.map((event) => ({ ...event, time: event.time ?? at })) };
}

function nameOf(statement: unknown): string {
  const { vulnerability } = isJsonObject(statement) ? statement : {};
  if (typeof vulnerability === "string") return vulnerability;
  return isJsonObject(vulnerability) && typeof vulnerability.name === "string" ? vulnerability.name : "";
}

function readStatement(statement: JsonObject, author: string): Found[] {
  const { vulnerability } = statement;
  const about: JsonObject =
    typeof vulnerability === "string" ? { name: vulnerability } : members(vulnerability, "vulnerability");
  const name = requiredText(about.name, "vulnerability.name");
  const aliases = [name, ...texts(about.aliases, "aliases")];
  const at = time(statement.last_updated, "last_updated") ?? time(statement.timestamp, "timestamp");
  const products = list(statement.products, "products").map((product) =>
    typeof product === "string" ? { "@id": product } : members(product, "a product"),
  );
  if (products.length === 0) throw new BadDocument("it names no product");
  return products.map((product) => {
    const { artifact, version, own } = productOf(product);
    const component = componentOf(product) ?? own;
    const type = typeOf(statement, version);
    return {
      id: derivedId(artifact, name),
      ...{ author, artifact, aliases, origin: artifact.name },
      ...(component ? { component } : {}),
      events: [{ time: at, type }],
    };
  });
}

function productOf(product: JsonObject) {
  const { identifiers } = product;
  const id = text(product["@id"], "@id");
  const purl = parsePurl((isJsonObject(identifiers) ? text(identifiers.purl, "purl") : "") || id);
  if (purl) return { artifact: artifactOf(purl), version: purl.version, own: ownComponentOf(purl) };
  if (id === "") throw new BadDocument("a product has no @id");
  return { artifact: { name: id, type: "" }, version: "", own: undefined };
}

function componentOf(product: JsonObject) {
  const [first] = list(product.subcomponents, "subcomponents").map((item) =>
    typeof item === "string" ? { "@id": item } : members(item, "a subcomponent"),
  );
  if (!first) return undefined;
  const id = text((first as JsonObject)["@id"], "@id");
  const purl = parsePurl(id);
  if (!purl) return id === "" ? undefined : { name: id, type: "" };
  return { name: artifactOf(purl).name, type: componentOfPurl(purl.type) };
}

/** What a status says. Our own documents keep in the notes which of the events it was. */
function typeOf(statement: JsonObject, version: string): EventType {
  const status = requiredText(statement.status, "status");
  const notes = text(statement.status_notes, "status_notes");
  const word = Object.hasOwn(eventWords, notes) ? eventWords[notes as keyof typeof eventWords] : undefined;
  const action = text(statement.action_statement, "action_statement");
  const impact = text(statement.impact_statement, "impact_statement");
  if (status === "fixed") return fixedIn(version);
  if (status === "under_investigation") return word === "analysisNotPlanned" ? noted(word, impact) : underInvestigation;
  if (status === "not_affected") {
    const justification = text(statement.justification, "justification");
    return falsePositive(reasonWords.get(notes) ?? reasonOf(justification), impact);
  }
  if (status !== "affected") throw new BadDocument(`the status ${status.slice(0, 40)} is not known`);
  return noted(word === "pendingUpstreamFix" || word === "fixNotPlanned" ? word : "truePositiveDetermination", action);
}
