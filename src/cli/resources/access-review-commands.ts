// `gatehouse iam access-reviews`: people confirm or revoke each role binding of a group.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { completing } from "../client/completing.ts";
import { clientOptionsOf } from "../client/options.ts";
import { confirm } from "../client/prompt.ts";
import { openSession, readCount, type Session, withClient, withList } from "../client/session.ts";
import type { ClientOptions } from "../client/session-types.ts";
import { jsonText } from "../escape.ts";
import { rowFormats } from "../output/formats.ts";
import { note, type Shell } from "../shell.ts";
import { limitOption, listOf, listPages } from "./access-lists.ts";
import { timeAhead } from "./binding-terms.ts";
import { constant, list as values } from "./flags.ts";
import { groups } from "./groups.ts";
import { identities } from "./identities.ts";
import { textAt } from "./json.ts";
import { findUid } from "./lookup.ts";
import { groupOption, namesOf } from "./names.ts";
import type { Resource } from "./resource.ts";
import { exportColumns, itemView, reviewView } from "./review-views.ts";
import { roles } from "./roles.ts";

/** How many items a request decides, and a page of an export has. */
const batchSize = 200;

/** Adds the commands to those of `gatehouse iam`. */
export function addAccessReviewCommands(iam: Command, shell: Shell): void {
  const parent = iam
    .command("access-reviews")
    .description("reviews of role bindings: create, get, list, items, decide, close, export");
  addCreate(parent, shell);
  addGet(parent, shell);
  addList(parent, shell);
  addItems(parent, shell);
  addDecide(parent, shell);
  addClose(parent, shell);
  addExport(parent, shell);
}

interface CreateOptions {
  readonly parent: string;
  readonly due: string;
  readonly endUnconfirmed?: boolean;
  readonly reviewers?: string;
  readonly roles?: string;
  readonly holders?: "people" | "workloads";
  readonly unusedDays?: number;
}

function addCreate(parent: Command, shell: Shell): void {
  const create = parent
    .command("create")
    .description("start a review of the role bindings of a group and its subgroups")
    .argument("<title>", "what the review is for")
    .addOption(groupOption("--parent", "the group").makeOptionMandatory())
    .requiredOption("--due <time>", "when it closes: after 14d, or at a time such as 2026-12-24T18:00Z")
    .option("--end-unconfirmed", "then end the role bindings that nobody decided about; without, they stay")
    .addOption(several("--reviewers", "who may decide (default: all who may delete the role bindings)", identities))
    .addOption(several("--roles", "only role bindings of these roles", roles))
    .addOption(new Option("--holders <kind>", "only role bindings of these").choices(["people", "workloads"]))
    .addOption(
      new Option("--unused-days <count>", "only role bindings unused for so many days, 7 to 400").argParser(readCount),
    );
  withClient(create, rowFormats).action(async (title: string) => {
    const { parent: group, due, endUnconfirmed, holders, unusedDays, ...given } = create.opts<CreateOptions>();
    using session = await openSession(shell, create);
    const accessReview = {
      title,
      dueTime: timeAhead(due),
      onDue: `ACCESS_REVIEW_ON_DUE_${endUnconfirmed ? "END_UNCONFIRMED" : "REPORT_ONLY"}`,
      reviewerIdentityUids: await uidsOf(session, identities, given.reviewers),
      roleUids: await uidsOf(session, roles, given.roles),
      ...(holders !== undefined && { holders: `ACCESS_REVIEW_HOLDERS_${holders.toUpperCase()}` }),
      ...(unusedDays !== undefined && { unusedDays }),
    };
    const request = { parent: await findUid(session, groups, group), accessReview };
    const made = await session.call((await methods()).createAccessReview, request);
    await session.output.one(reviewView, made);
    note(shell, `Decide about its items: \`gatehouse iam access-reviews items ${textAt(made, "uid")}\`.`);
  });
}

function several(flag: string, description: string, resource: Resource): Option {
  return completing(new Option(`${flag} <name,...>`, description), namesOf(resource));
}

async function uidsOf(session: Session, resource: Resource, names: string | undefined): Promise<string[]> {
  const uids: string[] = [];
  for (const name of names === undefined ? [] : values(names)) uids.push(await findUid(session, resource, name));
  return uids;
}

function addGet(parent: Command, shell: Shell): void {
  const get = parent.command("get").description("show one review").addArgument(reviewArgument());
  withClient(get, rowFormats).action(async (uid: string) => {
    using session = await openSession(shell, get);
    await session.output.one(reviewView, await session.call((await methods()).getAccessReview, { uid }));
  });
}

const states = ["open", "closing", "closed"];

function addList(parent: Command, shell: Shell): void {
  const list = parent
    .command("list")
    .description("list the reviews that you can see, the latest first")
    .addOption(groupOption("--parent", "only those of this group and its subgroups"))
    .addOption(new Option("--state <state>", "only those in this state").choices(states))
    .addOption(limitOption());
  withList(list, rowFormats).action(async () => {
    const { parent: place, state, limit } = list.opts<{ parent?: string; state?: string; limit: number }>();
    using session = await openSession(shell, list);
    const request = {
      ...(place !== undefined && { uidp: { descendantsOf: await findUid(session, groups, place) } }),
      ...(state !== undefined && { state: `ACCESS_REVIEW_STATE_${state.toUpperCase()}` }),
    };
    const method = (await methods()).listAccessReviews;
    await listPages(session, method, "accessReviews", request, () => reviewView, limit);
  });
}

const decisions = ["pending", "confirmed", "revoked", "gone", "changed", "kept-last-owner"];

function addItems(parent: Command, shell: Shell): void {
  const items = parent
    .command("items")
    .description("list the role bindings of a review, with their last use and the decisions")
    .addArgument(reviewArgument())
    .addOption(new Option("--decision <decision>", "only those with this decision").choices(decisions))
    .addOption(completing(new Option("--identity <name|uid>", "only those of this identity"), namesOf(identities)))
    .addOption(limitOption());
  withList(items, rowFormats).action(async (uid: string) => {
    const { decision, identity, limit } = items.opts<{ decision?: string; identity?: string; limit: number }>();
    using session = await openSession(shell, items);
    const request = {
      uid,
      ...(decision !== undefined && { decision: constant("ACCESS_REVIEW_DECISION_")(decision) }),
      ...(identity !== undefined && { identity: await findUid(session, identities, identity) }),
    };
    const method = (await methods()).listAccessReviewItems;
    await listPages(session, method, "items", request, () => itemView, limit);
  });
}

interface DecideOptions {
  readonly confirm?: boolean;
  readonly revoke?: boolean;
  readonly comment?: string;
  readonly yes?: boolean;
}

function addDecide(parent: Command, shell: Shell): void {
  const decide = parent
    .command("decide")
    .description("confirm or revoke role bindings of a review; those of 200 at a time are decided together")
    .addArgument(reviewArgument())
    .argument("<binding...>", "the uids of the role bindings")
    .addOption(new Option("--confirm", "they stay").conflicts(["revoke"]))
    .addOption(new Option("--revoke", "delete them").conflicts(["confirm"]))
    .option("--comment <text>", "why")
    .option("-y, --yes", "do not ask before role bindings are deleted");
  withClient(decide, rowFormats).action(async (uid: string, bindings: string[]) => {
    const { confirm: confirms, revoke, comment, yes } = decide.opts<DecideOptions>();
    if (!confirms && !revoke) decide.error("error: say --confirm or --revoke");
    using session = await openSession(shell, decide);
    const distinct = [...new Set(bindings)];
    if (revoke) await confirm(session.shell, `Delete ${distinct.length} role bindings?`, yes);
    const decision = `ACCESS_REVIEW_DECISION_${revoke ? "REVOKED" : "CONFIRMED"}`;
    const decided: JsonObject[] = [];
    for (let i = 0; i < distinct.length; i += batchSize) {
      const all = distinct.slice(i, i + batchSize).map((roleBindingUid) => ({
        roleBindingUid,
        decision,
        ...(comment !== undefined && { comment }),
      }));
      const reply = await session.call((await methods()).decideAccessReviewItems, { uid, decisions: all });
      decided.push(...listOf(reply.items));
    }
    await session.output.list(itemView, decided);
  });
}

function addClose(parent: Command, shell: Shell): void {
  const close = parent
    .command("close")
    .description("close a review before its due time")
    .addArgument(reviewArgument())
    .option("-y, --yes", "do not ask");
  withClient(close, rowFormats).action(async (uid: string) => {
    using session = await openSession(shell, close);
    const { getAccessReview, closeAccessReview } = await methods();
    const review = await session.call(getAccessReview, { uid });
    const ends = review.onDue === "ACCESS_REVIEW_ON_DUE_END_UNCONFIRMED";
    const effect = ends ? ` Its ${Number(review.pendingCount ?? 0)} undecided role bindings end.` : "";
    await confirm(session.shell, `Close ${textAt(review, "title")}?${effect}`, close.opts<{ yes?: boolean }>().yes);
    await session.output.one(reviewView, await session.call(closeAccessReview, { uid }));
  });
}

function addExport(parent: Command, shell: Shell): void {
  const command = parent
    .command("export")
    .description("print all items of a review, with all fields")
    .addArgument(reviewArgument())
    .addOption(new Option("-o, --output <format>", "the format").choices(["csv", "ndjson"]).default("csv"))
    .option("--no-headers", "CSV without titles");
  withClient(command, []).action(async (uid: string) => {
    const { output: format, ...client } = clientOptionsOf<ClientOptions>(command);
    using session = await openSession(shell, command, client);
    const method = (await methods()).listAccessReviewItems;
    let isFirst = client.headers !== false;
    let pageToken = "";
    do {
      const request = { uid, pageSize: batchSize, ...(pageToken !== "" && { pageToken }) };
      const reply = await session.call(method, request);
      shell.stdout.write(await linesOf(format, listOf(reply.items), isFirst));
      isFirst = false;
      pageToken = textAt(reply, "nextPageToken");
    } while (pageToken !== "");
  });
}

async function linesOf(format: string | undefined, items: readonly JsonObject[], hasHeaders: boolean): Promise<string> {
  if (format === "ndjson") return items.map((item) => `${jsonText(item)}\n`).join("");
  return (await import("../output/csv.ts")).csvText(exportColumns, items, hasHeaders);
}

/** The argument that names a review. */
function reviewArgument(): Argument {
  return completing(new Argument("<review>", "its uid"), async (session) => {
    const reply = await session.call((await methods()).listAccessReviews, {});
    return listOf(reply.accessReviews).map((row) => ({ value: textAt(row, "uid"), description: textAt(row, "title") }));
  });
}

async function methods() {
  return (await import("../../../gen/gatehouse/access/v1/access_reviews_pb.ts")).AccessReviewsService.method;
}
