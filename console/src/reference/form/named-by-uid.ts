// Finds the kind of resource that a uid field names: by its rule, and by the nouns in its name, its comment and the name of the method.
import type { NamedKind } from "../../api/named-kinds.ts";
import { type OpenApi, resolve } from "../documents.ts";
import type { FormField } from "./fields.ts";

/** The nouns in names and comments of fields, and the kind that they mean. */
const kinds: Readonly<Record<string, NamedKind>> = {
  group: "group",
  "descendants of": "group",
  organization: "group",
  identity: "identity",
  person: "identity",
  actor: "identity",
  maker: "identity",
  role: "role",
  repo: "repo",
  tag: "tag",
  "identity provider": "identityProvider",
  subscription: "subscription",
  advisory: "advisory",
};

/** The noun in a comment such as "The uid of the group to create in." or "The group to create in: its uid, …" */
const inComment = new RegExp(
  `(?:\\bu?ids? of (?:an?|the|its)|^The) (${Object.keys(kinds).sort(byLength).join("|")})\\b`,
);

/** Whether a text can be a uid, by the rule of a field: one of its alternatives begins like this. */
const uidRule = "^[0-9a-f]{40}(?:/";

/** The resource that a field names by its uid. */
export interface NamedByUid {
  readonly kind: NamedKind;
  /** Whether a text is a uid: fields may take other texts, too. */
  readonly isUid: (text: string) => boolean;
}

interface MethodForm {
  readonly document: OpenApi;
  /** The name of the method. */
  readonly method: string;
}

/** Returns the resource that a field names by its uid; undefined for other texts, and for kinds without a name. */
export function namedByUid(form: MethodForm, field: FormField): NamedByUid | undefined {
  const { pattern = "", description = "" } = resolve(form.document, field.schema).schema;
  const rule = pattern.split("|").find((one) => one.startsWith(uidRule));
  const kind = rule === undefined ? undefined : kindOf(form.method, field, description);
  return kind && { kind, isUid: (text) => new RegExp(rule!).test(text) };
}

function kindOf(method: string, { name, field }: FormField, description: string): NamedKind | undefined {
  const own = nounOf(field?.name ?? name.split(".").at(-1) ?? "");
  const [, commented = ""] = inComment.exec(field?.description || description) ?? [];
  // AIP-131 to 135: the uid in the path is that of the resource that the method is named after.
  const resource = own === "" ? wordsOf(method.replace(/^[A-Z][a-z]+/, "")) : "";
  return kinds[own] ?? kinds[commented] ?? kinds[resource];
}

/** Returns the noun in the name of a field: `default_role`, `eligible_role_uids` and `roleUid` are roles, `uid` has none. */
function nounOf(name: string): string {
  const words = wordsOf(name).replace(/^(?:default|eligible|approver|reviewer) /, "");
  return words.replace(/ ?\b(?:uids?|uidp|ids?)$/, "").replace(/s$/, "");
}

function wordsOf(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();
}

function byLength(a: string, b: string): number {
  return b.length - a.length;
}
