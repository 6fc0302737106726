// Reads statements of OpenVEX.
import { create } from "@bufbuild/protobuf";
import {
  type ProductStatement,
  ProductStatementSchema,
  ProductStatus,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject, numberOf } from "../../base/json.ts";
import { BadRecord, type Members, type Problems } from "../document.ts";
import { extraOf } from "../extra.ts";
import { identityOf } from "../product.ts";
import { timeText } from "../times.ts";
import { dropUnknown, membersOf, readComponents } from "./lenient.ts";
import { readProduct, readSubcomponents } from "./products.ts";
import { justifications, noAction, noReason, splitPlan, statuses } from "./words.ts";

/** The vulnerability that a statement is about. */
export interface Vulnerability {
  readonly id: string;
  readonly description: string;
  readonly aliases: readonly string[];
}

/** A statement that was read. */
export interface ReadStatement {
  readonly vulnerability: Vulnerability;
  /** Returns a statement for each product. `described` has the members of the vulnerability that the record has no field for. */
  toProducts(described: JsonObject): ProductStatement[];
}

/** Returns the vulnerability that a statement names; empty for none. */
export function vulnerabilityOf(statement: unknown): string {
  const value = isJsonObject(statement) ? statement.vulnerability : undefined;
  if (typeof value === "string") return value;
  if (!isJsonObject(value)) return "";
  const texts = [value.name, value["@id"]];
  return texts.find((text): text is string => typeof text === "string" && text !== "") ?? "";
}

/** Whether a statement says that its products are fixed or not affected: without it, a record hides nothing. */
export function isSafe(statement: unknown): boolean {
  const { status: word } = isJsonObject(statement) ? statement : {};
  const status = typeof word === "string" ? statuses.get(word) : undefined;
  return status === ProductStatus.FIXED || status === ProductStatus.NOT_AFFECTED;
}

/** Reads a statement. Throws BadRecord if it cannot be read; smaller faults are added to the problems. */
export function readStatement(value: unknown, path: string, problems: Problems): ReadStatement {
  const statement = membersOf(value, path, problems);
  const vulnerability = readVulnerability(statement, problems);
  const said = readStatus(statement);
  const time = statement.time("timestamp");
  const more = readMore(statement);
  const shared = readSubcomponents(statement, problems);
  const readOne = (each: Members) => readProduct(each, shared, problems);
  // Without a product that may be affected, the record would not say that it is.
  const products = readComponents(statement, "products", problems, readOne, !isSafe(value));
  dropUnknown(statement);
  if (products.length === 0) {
    const rule = statement.value("products") === undefined ? "is missing" : "has no product that can be read";
    throw new BadRecord(statement.pathOf("products"), rule);
  }
  const several = new Set(products.map(({ product }) => identityOf(product))).size > 1 || undefined;
  return {
    vulnerability,
    toProducts: (described) =>
      products.map(({ product, version, subcomponents, json }) =>
        create(ProductStatementSchema, {
          product,
          versions: version === "" ? [] : [version],
          subcomponents: [...subcomponents],
          ...said,
          ...(time && { time: time.timestamp }),
          extra: extraOf({ product: json, timestamp: time?.raw || undefined, ...more, ...described, several }),
        }),
      ),
  };
}

function readVulnerability(statement: Members, problems: Problems): Vulnerability {
  const value = statement.value("vulnerability");
  // OpenVEX 0.0.1 has a text and a separate description.
  if (typeof value === "string") {
    statement.requiredText("vulnerability");
    return { id: "", description: statement.text("vuln_description"), aliases: [] };
  }
  const members = membersOf(value, statement.pathOf("vulnerability"), problems);
  const id = members.text("@id");
  const name = members.value("name");
  // Without a name, the vulnerability is known by its IRI.
  if (id === "" || (typeof name === "string" && name !== "")) members.requiredText("name");
  else members.text("name");
  const read = { id, description: members.text("description"), aliases: members.texts("aliases") };
  dropUnknown(members);
  return read;
}

/** Reads the status and its explanation. */
function readStatus(statement: Members) {
  const word = statement.requiredText("status");
  const status = statuses.get(word);
  if (status === undefined)
    throw new BadRecord(statement.pathOf("status"), `must be one of ${[...statuses.keys()].join(", ")}`);
  const justification = statement.text("justification");
  const isKnown = justification === "" || justifications.includes(justification);
  if (!isKnown) statement.drop("justification", `must be one of ${justifications.join(", ")}`);
  const [impact, action] = [statement.text("impact_statement"), statement.text("action_statement")];
  const notes = statement.text("status_notes");
  const reason = { justification: isKnown ? justification : "", impact };
  if (status === ProductStatus.AFFECTED) {
    const { plan, text } = splitPlan(action === noAction ? "" : action);
    return { status, ...reason, action: text, notes, plan };
  }
  const { plan, text } = splitPlan(notes);
  const isWithoutReason = status === ProductStatus.NOT_AFFECTED && reason.justification === "" && impact === noReason;
  return { status, ...reason, ...(isWithoutReason && { impact: "" }), action, notes: text, plan };
}

/** Returns the members that only OpenVEX has. */
function readMore(statement: Members): JsonObject {
  const { "@id": id, supplier } = { "@id": statement.text("@id"), supplier: statement.text("supplier") };
  const times = ["last_updated", "action_statement_timestamp"].map((name) => {
    const time = statement.time(name);
    return [name, time && (time.raw || timeText(time.milliseconds))] as const;
  });
  return {
    "@id": id || undefined,
    version: readVersion(statement),
    supplier: supplier || undefined,
    ...Object.fromEntries(times),
  };
}

/** Reads the version of a statement or a document, which OpenVEX 0.0.1 has as a text; undefined for none. */
export function readVersion(members: Members): number | undefined {
  const value = members.value("version");
  if (value === undefined || value === "") return undefined;
  const version = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : numberOf(value);
  if (version !== undefined && Number.isSafeInteger(version) && version >= 0) return version;
  members.drop("version", "must be a whole number");
  return undefined;
}
