// The rules of the profile VEX (CSAF 2.0 §4.5 and §6.1.27).
import { isJsonObject, type JsonObject } from "../../base/json.ts";

/** Whether a vulnerability keeps the rules of the profile VEX. */
export function isVex(vulnerability: JsonObject): boolean {
  const { cve, ids, notes, flags, threats, remediations } = vulnerability;
  const statuses = isJsonObject(vulnerability.product_status) ? vulnerability.product_status : {};
  const hasStatus = ["fixed", "known_affected", "known_not_affected", "under_investigation"].some(
    (each) => each in statuses,
  );
  if ((cve === undefined && ids === undefined) || notes === undefined || !hasStatus) return false;
  const impacts = itemsIn(threats).filter(({ category }) => category === "impact");
  const reasoned = productsIn([...itemsIn(flags), ...impacts]);
  const acted = productsIn(itemsIn(remediations));
  return (
    textsIn(statuses.known_not_affected).every((id) => reasoned.has(id)) &&
    textsIn(statuses.known_affected).every((id) => acted.has(id))
  );
}

function itemsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

function productsIn(items: readonly JsonObject[]): Set<string> {
  return new Set(items.flatMap(({ product_ids: products }) => textsIn(products)));
}
