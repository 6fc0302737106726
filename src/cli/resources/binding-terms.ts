// The terms of role bindings on the command line: when they begin and end.
import type { JsonObject } from "@bufbuild/protobuf";
import type { Session } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import type { Column, View } from "../output/view.ts";
import { note } from "../shell.ts";
import { seconds } from "./flags.ts";
import { textAt } from "./json.ts";
import type { FlagValue, Options, Resource } from "./resource.ts";

const terraformHint =
  "After its end, the role binding is deleted. Terraform would create it again without an end: give terms only to those that it does not manage.";

/** The flags of terms. */
export const termFlags: NonNullable<Resource["completing"]> = [
  { flags: "--expires <time>", description: "when it ends: after 8h, 7d, or at a time such as 2026-12-24T18:00Z" },
  { flags: "--starts <time>", description: "when it begins: after 8h, 7d, or at a time such as 2026-12-24T18:00Z" },
  { flags: "--no-expiry", description: "remove its end", only: "update", conflicts: ["expires"] },
];

/** Makes changes that flags of terms ask for, by the service of terms. */
export const termChanges: NonNullable<Resource["instead"]> = {
  async create(session, { parent, body, options }) {
    const term = termOf(options);
    if (!term) return undefined;
    const { method } = (await service()).RoleBindingTermsService;
    const { uid } = await session.call(method.createRoleBindingTerm, { parent, term: { ...body, ...term } });
    note(session.shell, terraformHint);
    return { uid: uid! };
  },
  async update(session, uid, { identity, role, file, ...options }) {
    const removesEnd = options.expiry === false;
    const term = termOf(options) ?? (removesEnd ? {} : undefined);
    if (!term) return false;
    if (identity !== undefined || role !== undefined || file !== undefined)
      throw wrongUsage("--expires, --starts and --no-expiry change the term alone", "Change the rest by another call.");
    const { method } = (await service()).RoleBindingTermsService;
    const updateMask = [...Object.keys(term), ...(removesEnd ? ["expireTime"] : [])].join(",");
    await session.call(method.updateRoleBindingTerm, { term: { uid, ...term }, updateMask });
    if (term.expireTime) note(session.shell, terraformHint);
    return true;
  },
};

/** Returns the term that flags ask for; undefined if they ask for none. */
function termOf({ starts, expires }: Options): JsonObject | undefined {
  if (starts === undefined && expires === undefined) return undefined;
  return {
    ...(starts !== undefined && { startTime: timeAhead(starts) }),
    ...(expires !== undefined && { expireTime: timeAhead(expires) }),
  };
}

/** Parses a time, or a duration from now. */
export function timeAhead(value: FlagValue): string {
  const text = String(value).trim();
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return new Date(Number.isNaN(time) ? Date.now() + seconds(text) * 1000 : time).toISOString();
}

/** Returns the columns of a list of role bindings. If one of them has a term, they have its start and end. */
export async function withTerms(
  columns: readonly Column[],
  request: JsonObject,
  session: Session,
): Promise<readonly Column[]> {
  const terms = new Map<string, JsonObject>();
  const { uidp, identity } = request;
  const asked = { ...(uidp !== undefined && { uidp }), ...(identity !== undefined && { identity }) };
  for await (const term of termsIn(session, asked)) terms.set(textAt(term, "uid"), term);
  if (terms.size === 0) return columns;
  const value = (field: string) => (row: JsonObject) => textAt(terms.get(textAt(row, "uid")) ?? {}, field);
  return [
    ...columns,
    { title: "starts", value: value("startTime"), wide: true },
    { title: "ends", value: value("expireTime") },
  ];
}

/** Returns a view with the starts and ends of role bindings, if one of the rows has any. */
export function withEnds(
  view: View,
  rows: readonly JsonObject[],
  bindingsOf: (row: JsonObject) => readonly JsonObject[],
): View {
  const timesOf = (field: "startTime" | "expireTime") => (row: JsonObject) =>
    bindingsOf(row)
      .map((binding) => textAt(binding, field))
      .filter((text) => text !== "")
      .sort();
  const shown = (["startTime", "expireTime"] as const).filter((field) =>
    rows.some((row) => timesOf(field)(row).length > 0),
  );
  const titles = { startTime: "starts", expireTime: "ends" } as const;
  const columns = shown.map(
    (field): Column => ({ title: titles[field], value: (row) => timesOf(field)(row).join(", ") }),
  );
  return { ...view, columns: [...view.columns, ...columns] };
}

/** Yields the terms that a request for a list selects. A server of an older release has none. */
export async function* termsIn(session: Session, request: JsonObject): AsyncGenerator<JsonObject> {
  const { method } = (await service()).RoleBindingTermsService;
  let pageToken = "";
  do {
    const page = { ...request, pageSize: 200, ...(pageToken !== "" && { pageToken }) };
    const response = await session.call(method.listRoleBindingTerms, page).catch(noTerms);
    yield* (response.terms as JsonObject[] | undefined) ?? [];
    pageToken = textAt(response, "nextPageToken");
  } while (pageToken !== "");
}

function noTerms(error: unknown): JsonObject {
  if (error instanceof CommandFailure && ["Unimplemented", "NotFound"].includes(error.status)) return {};
  throw error;
}

const service = () => import("../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts");
