// Products of OpenVEX and their subcomponents: their identifiers, and the form in which they are written.
import { create } from "@bufbuild/protobuf";
import { type Product, ProductSchema } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import { BadRecord, type Members, type Problems } from "../document.ts";
import { canonicalJson } from "../extra.ts";
import { identityOf, parseProduct, type VersionedProduct } from "../product.ts";
import { versionedPurl } from "../purl.ts";
import { dropUnknown, readComponents } from "./lenient.ts";

/** A product as a statement names it. */
export interface NamedProduct {
  readonly product: Product;
  /** Empty means all versions. */
  readonly version: string;
  /** The parts that the statement is about; empty means the product itself. */
  readonly subcomponents: readonly string[];
}

/** A product that was read. */
export interface ReadProduct extends NamedProduct {
  /** The product as the document has it, where `productJson` would write it in another way. */
  readonly json: JsonObject | undefined;
}

/** A product without its subcomponents, or a subcomponent. */
export interface Component {
  readonly product: Product;
  readonly version: string;
  /** The members that were read. */
  readonly json: JsonObject;
}

/** Reads a product. `shared` are the subcomponents of its statement, which hold for products that have none. */
export function readProduct(members: Members, shared: readonly Component[], problems: Problems): ReadProduct {
  const component = readComponent(members);
  const own = readSubcomponents(members, problems);
  const parts = own.length > 0 ? own : shared;
  dropUnknown(members);
  const { product, version } = component;
  const subcomponents = parts.map(nameOfPart);
  const json = { ...component.json, ...(parts.length > 0 ? { subcomponents: parts.map((part) => part.json) } : {}) };
  const again = productJson({ product, version, subcomponents });
  const isSame = again !== undefined && canonicalJson(again) === canonicalJson(json);
  return { product, version, subcomponents, json: isSame ? undefined : json };
}

/** Reads subcomponents. Throws BadRecord if none of them can be read: the statement would be about the whole product. */
export function readSubcomponents(owner: Members, problems: Problems): Component[] {
  const value = owner.value("subcomponents");
  const parts = readComponents(owner, "subcomponents", problems, (members) => {
    const part = readComponent(members);
    dropUnknown(members);
    return part;
  });
  const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
  if (!isEmpty && parts.length === 0)
    throw new BadRecord(owner.pathOf("subcomponents"), "has no subcomponent that can be read");
  return parts;
}

/** Reads the identifier of a component: a package URL, else a CPE, else its `@id`, else its hashes. */
function readComponent(members: Members): Component {
  const identifiers = readIdentifiers(members);
  const id = readId(members, Object.keys(identifiers).length > 0);
  const hashes = readHashes(members);
  const supplier = members.text("supplier");
  const hash = hashOf(hashes);
  const found = parsePurl(identifiers.purl ?? "") ?? parsePurl(id);
  const cpe = [identifiers.cpe23, identifiers.cpe22, id].find((text) => text !== undefined && isCpe(text)) ?? "";
  const name = cpe === "" && !found ? id || hash : "";
  if (!found && cpe + name === "") throw new BadRecord(members.path, "must have an @id, an identifier or a hash");
  const json = {
    ...(id === "" ? {} : { "@id": id }),
    ...(Object.keys(identifiers).length === 0 ? {} : { identifiers }),
    ...(Object.keys(hashes).length === 0 ? {} : { hashes }),
    ...(supplier === "" ? {} : { supplier }),
  };
  const product = found?.product ?? create(ProductSchema, { cpe, name });
  // A hash identifies one artifact, so its version does not matter.
  const version = found?.version || (hash === name ? "" : hash);
  if (found) checkPurls(members, found, id);
  return { product, version, json };
}

/** The kinds of identifiers, and how each begins. */
const identifierKinds = { purl: /^pkg:/i, cpe23: /^cpe:2\.3:/i, cpe22: /^cpe:\//i } as const;

function isCpe(text: string): boolean {
  return identifierKinds.cpe23.test(text) || identifierKinds.cpe22.test(text);
}

type Identifiers = Partial<Record<keyof typeof identifierKinds, string>>;

function readIdentifiers(members: Members): Identifiers {
  const object = members.object("identifiers");
  if (!object) return {};
  const found: Identifiers = {};
  for (const kind of ["purl", "cpe23", "cpe22"] as const) {
    const text = object.text(kind);
    const isValid = identifierKinds[kind].test(text) && (kind !== "purl" || parsePurl(text) !== undefined);
    if (isValid) found[kind] = text;
    else if (text !== "") object.drop(kind, kind === "purl" ? "must be a package URL" : "must be a CPE");
  }
  dropUnknown(object);
  return found;
}

function readId(members: Members, hasIdentifiers: boolean): string {
  const id = members.text("@id");
  if (!identifierKinds.purl.test(id) || parsePurl(id)) return id;
  const rule = "must be a package URL that is valid";
  if (!hasIdentifiers) throw new BadRecord(members.pathOf("@id"), rule);
  members.drop("@id", rule);
  return "";
}

/** Reports doubtful parts of package URLs that are accepted. */
function checkPurls(members: Members, { product, problem }: VersionedProduct, id: string): void {
  if (problem !== "") members.drop("", `is read although its package URL breaks a rule: ${problem}`);
  const other = parsePurl(id)?.product;
  // Only one of them is the product of the statement.
  if (other && identityOf(other) !== identityOf(product))
    members.drop("@id", "names another product than identifiers.purl, which counts");
}

function readHashes(members: Members): Record<string, string> {
  const object = members.object("hashes");
  const names = object ? Object.keys(object.rest()) : [];
  const texts = names.map((name) => [name, object?.text(name) ?? ""] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== ""));
}

/** One of some hashes as package URLs write digests: `sha256:0a1b…`, if there is one of that kind. Empty for none. */
function hashOf(hashes: Readonly<Record<string, string>>): string {
  const name = ["sha-256", ...Object.keys(hashes).sort()].find((each) => Object.hasOwn(hashes, each));
  return name === undefined ? "" : `${name.replace(/^sha-/, "sha")}:${hashes[name]}`;
}

function parsePurl(text: string): VersionedProduct | undefined {
  return identifierKinds.purl.test(text) ? parseProduct(text) : undefined;
}

/** Returns the name of a subcomponent: its package URL with the version, or else its other identifier. */
function nameOfPart({ product, version }: Component): string {
  return product.purl === "" ? identityOf(product) : versionedPurl(product.purl, version);
}

// RFC 3987, roughly: a scheme, and no character that must be escaped.
const iri = /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i;

/** Writes a product; undefined when OpenVEX cannot name it or a part of it. */
export function productJson({ product, version, subcomponents }: NamedProduct): JsonObject | undefined {
  const component = componentJson(product, version);
  const parts = subcomponents.flatMap((part) => partJson(part) ?? []);
  if (!component || parts.length < subcomponents.length) return undefined;
  return { ...component, ...(parts.length > 0 ? { subcomponents: parts } : {}) };
}

/** Writes a part of a product; undefined if its name is not an IRI. */
export function partJson(part: string): JsonObject | undefined {
  return iri.test(part) ? { "@id": part } : undefined;
}

function componentJson({ purl, cpe, name, ecosystem }: Product, version: string): JsonObject | undefined {
  if (purl !== "") return { "@id": versionedPurl(purl, version) };
  if (version !== "") return undefined;
  if (cpe !== "") return { identifiers: { [identifierKinds.cpe23.test(cpe) ? "cpe23" : "cpe22"]: cpe } };
  return ecosystem === "" ? partJson(name) : undefined;
}
