// What an identity asks of a token, as a form has it, and what a change of that lets in.
import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Identity, IdentitySchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { mapOf, type Pair, pairsOf, pairsText } from "../../shell/entries.ts";
import type { TextId } from "../../texts/catalogues.ts";
import { demandsOf, demandText } from "./identity-facts.ts";

/** The kinds of credentials whose claims a form changes. */
export type Kind = "claimMatch" | "staticKeys" | "awsIdentity";

/** A value, or a pattern that the whole value has to match. */
export interface Demand {
  readonly value: string;
  readonly isPattern: boolean;
}

/** The values of a form. */
export interface Draft {
  readonly kind: Kind;
  /** By the name of the field in the API. */
  readonly demands: Readonly<Record<string, Demand>>;
  readonly claims: readonly Pair[];
  readonly claimPatterns: readonly Pair[];
  /** The day on which static keys end, as in `2026-12-31`; empty for 365 days after the creation. */
  readonly end: string;
  /** The present key set. */
  readonly presentKeys: string;
  readonly keyChoice: KeyChoice;
  /** The key set to paste. It counts with that choice only. */
  readonly pastedKeys: string;
}

/** The choices for the keys: keep them, have the browser make a new one, or paste a key set. */
export const keyChoices = ["keep", "make", "paste"] as const;
export type KeyChoice = (typeof keyChoices)[number];

/** Stands for the keys that the browser makes when the form is sent. */
const keysToMake = "JSON_WEB_KEY_SET";

/** Returns the new key set of a draft; empty if it keeps the present one. */
export function newKeysOf({ keyChoice, pastedKeys }: Draft): string {
  return { keep: "", make: keysToMake, paste: pastedKeys }[keyChoice];
}

/** The properties of a part of the form. */
export interface PartProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly errors: Readonly<Record<string, string>>;
}

/** A field of a form. */
export interface DemandField {
  /** The name in the API, without `_pattern`. */
  readonly name: string;
  /** The name of the claim, as an exchange checks it. */
  readonly claim: string;
  readonly text: TextId;
  readonly takesPattern: boolean;
}

/** The fields of each kind. */
export const demandFields: Readonly<Record<Kind, readonly DemandField[]>> = {
  claimMatch: [
    { name: "issuer", claim: "iss", text: "claims.issuer", takesPattern: true },
    { name: "subject", claim: "sub", text: "claims.subject", takesPattern: true },
    { name: "audience", claim: "aud", text: "claims.audience", takesPattern: true },
  ],
  staticKeys: [
    { name: "issuer", claim: "iss", text: "claims.issuer", takesPattern: false },
    { name: "subject", claim: "sub", text: "claims.subject", takesPattern: false },
    { name: "audiences", claim: "aud", text: "claims.audience", takesPattern: false },
  ],
  awsIdentity: [
    { name: "aws_account", claim: "account", text: "wizard.awsAccount", takesPattern: false },
    { name: "arn", claim: "arn", text: "claims.arn", takesPattern: true },
    { name: "user_id", claim: "user id", text: "claims.userId", takesPattern: true },
  ],
};

const prefixes: Readonly<Record<Kind, string>> = {
  claimMatch: "claim_match",
  staticKeys: "static_keys",
  awsIdentity: "aws_identity",
};

/** Whether the identity asks for claims: people and services of the platform do not. */
export function isEditable({ relationship }: Identity): boolean {
  return relationship.case !== undefined && relationship.case in prefixes;
}

type Oneof = { readonly case: string | undefined; readonly value?: string | undefined };

function demand({ case: name, value = "" }: Oneof): Demand {
  return { value, isPattern: name?.endsWith("Pattern") ?? false };
}

const exact = (value: string): Demand => ({ value, isPattern: false });
const nothing = { claims: [], claimPatterns: [], end: "", presentKeys: "", keyChoice: "keep", pastedKeys: "" } as const;

/** Returns what the form of an identity begins with. */
export function draftOf({ relationship }: Identity): Draft {
  if (relationship.case === "staticKeys") {
    const { issuer, subject, audiences, expirationTime, issuerKeys: presentKeys } = relationship.value;
    const demands = { issuer: exact(issuer), subject: exact(subject), audiences: exact(audiences[0] ?? "") };
    const end = expirationTime ? timestampDate(expirationTime).toISOString().slice(0, 10) : "";
    return { ...nothing, kind: "staticKeys", demands, end, presentKeys };
  }
  if (relationship.case === "awsIdentity") {
    const { awsAccount, awsArn, awsUserId } = relationship.value;
    const demands = { aws_account: exact(awsAccount), arn: demand(awsArn), user_id: demand(awsUserId) };
    return { ...nothing, kind: "awsIdentity", demands };
  }
  if (relationship.case !== "claimMatch") return { ...nothing, kind: "claimMatch", demands: {} };
  const { iss, sub, aud, claims, claimPatterns } = relationship.value;
  return {
    ...nothing,
    kind: "claimMatch",
    demands: { issuer: demand(iss), subject: demand(sub), audience: demand(aud) },
    claims: pairsOf(claims),
    claimPatterns: pairsOf(claimPatterns),
  };
}

/** Returns the values to compare, by the names of fields. */
export function valuesOf(draft: Draft): Readonly<Record<string, string>> {
  const { kind, demands, claims, claimPatterns, end } = draft;
  const own = demandFields[kind].map(({ name }) => [name, textOf(demands[name])]);
  if (kind === "claimMatch") own.push(["claims", pairsText(claims)], ["claim_patterns", pairsText(claimPatterns)]);
  if (kind === "staticKeys")
    own.push(["expiration_time", end], ["issuer_keys", keyIdsOf(newKeysOf(draft) || draft.presentKeys)]);
  return Object.fromEntries(own);
}

/** Returns the ids of the keys of a key set, which a person can compare; the text if it is none. */
function keyIdsOf(text: string): string {
  try {
    const { keys } = JSON.parse(text) as { readonly keys: readonly { readonly kid?: unknown }[] };
    return keys.map(({ kid = "?" }) => String(kid)).join(", ");
  } catch {
    return text;
  }
}

function textOf({ value, isPattern }: Demand = exact("")): string {
  return demandText(value, isPattern);
}

/** Returns the update mask. A member of a oneof is named as it is set, or as it was before it was cleared. */
export function pathsOf(before: Draft, mine: Draft, changed: readonly string[]): string[] {
  return changed.map((name) => {
    const { isPattern = false } = mine.demands[name]?.value ? mine.demands[name] : (before.demands[name] ?? {});
    return `${prefixes[mine.kind]}.${name}${isPattern ? "_pattern" : ""}`;
  });
}

/** Returns the identity of a request. */
export function identityOf(uid: string, draft: Draft): Identity {
  const { kind, demands, claims, claimPatterns, end } = draft;
  const value = (name: string) => demands[name]?.value.trim() ?? "";
  const oneof = <N extends string>(name: N, field: string = name) =>
    demands[field]?.isPattern
      ? { case: `${name}Pattern` as const, value: value(field) }
      : { case: name, value: value(field) };
  if (kind === "staticKeys")
    return create(IdentitySchema, {
      uid,
      relationship: {
        case: kind,
        value: {
          issuer: value("issuer"),
          subject: value("subject"),
          audiences: value("audiences") === "" ? [] : [value("audiences")],
          issuerKeys: newKeysOf(draft),
          ...(end !== "" && { expirationTime: timestampFromMs(Date.parse(end)) }),
        },
      },
    });
  if (kind === "awsIdentity")
    return create(IdentitySchema, {
      uid,
      relationship: {
        case: kind,
        value: { awsAccount: value("aws_account"), awsArn: oneof("arn"), awsUserId: oneof("userId", "user_id") },
      },
    });
  return create(IdentitySchema, {
    uid,
    relationship: {
      case: kind,
      value: {
        iss: oneof("issuer"),
        sub: oneof("subject"),
        ...(value("audience") !== "" && { aud: oneof("audience") }),
        claims: mapOf(claims),
        claimPatterns: mapOf(claimPatterns),
      },
    },
  });
}

/** The effect of a change of one claim: it lets more tokens in, or fewer, or others. */
export interface Effect {
  readonly claim: string;
  readonly kind: "more" | "fewer" | "others";
  /** The required values before and after; empty for anything. Patterns are in slashes. */
  readonly before: string;
  readonly after: string;
}

/**
 * Compares what two drafts ask for. Patterns are not compared with values: two patterns may overlap. `own` stands for the audience of
 * an identity that names none.
 */
export function effectsOf(before: Draft, after: Draft, own: string): readonly Effect[] {
  const [then, now] = [before, after].map((draft) => new Map(demandsOf(identityOf("", draft))));
  return [...new Set([...then!.keys(), ...now!.keys()])].flatMap((claim): Effect[] => {
    const none = claim === "aud" ? own : "";
    const [a, b] = [then!.get(claim) ?? none, now!.get(claim) ?? none];
    if (a === b) return [];
    return [{ claim, kind: a === "" ? "fewer" : b === "" ? "more" : "others", before: a, after: b }];
  });
}
