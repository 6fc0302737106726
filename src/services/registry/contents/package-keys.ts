// The numbers by which packages are found that an advisory names.
import { hash } from "node:crypto";
import { readPackage } from "../../../advisories/queries/package.ts";

/** Returns the numbers of the keys of a package in an organization; none for a text that is not a package URL. */
export function keyNumbersOf(organization: string, purl: string): number[] {
  const asked = readPackage({ purl, ecosystem: "", name: "", version: "" });
  return "field" in asked ? [] : [...asked.versions.keys()].map((key) => keyNumber(organization, key));
}

/** Returns the number of a key in an organization: 48 bits of a hash. */
export function keyNumber(organization: string, key: string): number {
  return Number.parseInt(hash("sha256", `${organization}\n${key}`).slice(0, 12), 16);
}
