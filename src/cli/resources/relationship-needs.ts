// Checks the flags of a relationship, so an error names flags and not fields of the API.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { wrongUsage } from "../failure.ts";

interface Need {
  /** One of these members is required. */
  readonly members: readonly string[];
  readonly flags: string;
}

const needs: Readonly<Record<string, { readonly noun: string; readonly needs: readonly Need[] }>> = {
  claimMatch: {
    noun: "a claim match",
    needs: [
      { members: ["issuer", "issuerPattern"], flags: "--identity-issuer or --identity-issuer-pattern" },
      { members: ["subject", "subjectPattern"], flags: "--subject or --subject-pattern" },
    ],
  },
  staticKeys: {
    noun: "an identity with keys",
    needs: [
      { members: ["issuer"], flags: "--identity-issuer" },
      { members: ["subject"], flags: "--subject" },
      { members: ["issuerKeys"], flags: "--issuer-keys" },
    ],
  },
  awsIdentity: {
    noun: "an AWS identity",
    needs: [
      { members: ["awsAccount"], flags: "--aws-account" },
      { members: ["arn", "arnPattern"], flags: "--aws-arn or --aws-arn-pattern" },
      { members: ["userId", "userIdPattern"], flags: "--aws-user-id or --aws-user-id-pattern" },
    ],
  },
};

/** Fails, naming the flags, if a partly specified relationship lacks a part. */
export function checkNeeds(kind: string, relationship: JsonValue | undefined): void {
  const needed = needs[kind];
  if (!needed || !isJsonObject(relationship)) return;
  const missing = needed.needs.filter(({ members }) => !members.some((member) => hasMember(relationship, member)));
  if (missing.length === 0) return;
  throw wrongUsage(`${needed.noun} also needs ${missing.map(({ flags }) => flags).join("; and ")}`);
}

/** A file may use the proto names. */
function hasMember(message: JsonObject, member: string): boolean {
  return Object.keys(message).some(
    (name) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) === member,
  );
}
