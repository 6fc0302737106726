// `gatehouse iam terms`: the documents that an organization has accepted.
import type { JsonObject } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { openSession, type Session, withClient, withList } from "../client/session.ts";
import { wrongUsage } from "../failure.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import type { Shell } from "../shell.ts";
import { groups } from "./groups.ts";
import { textAt } from "./json.ts";
import { findUid } from "./lookup.ts";
import { groupOption } from "./names.ts";

const pageSize = 200;

const view: View = {
  noun: "accepted terms",
  id: "docId",
  columns: [
    { title: "document", value: "docId" },
    { title: "organization", value: "orgUid" },
    { title: "accepted by", value: "acceptedBy" },
    { title: "accepted", value: "createTime" },
  ],
};

/** Adds the commands to those of IAM. */
export function addTermsCommands(iam: Command, shell: Shell): void {
  const terms = iam.command("terms").description("accepted terms: list, accept");
  const list = withGroup(
    terms.command("list").description("list the documents that a group and its ancestors have accepted"),
  );
  withList(list, rowFormats).action(async () => {
    using session = await openSession(shell, list);
    await session.output.list(
      view,
      session.output.arrange(view, await acceptances(session, await groupOf(session, list))),
    );
  });
  const accept = withGroup(terms.command("accept").description("accept documents for a group; this cannot be undone"));
  accept.argument("<document...>", "the id of a document, as the server has it (--terms-documents)");
  withClient(accept, rowFormats).action(async (documentIds: string[]) => {
    using session = await openSession(shell, accept);
    const group = await groupOf(session, accept);
    const { TermsService } = await import("../../../gen/chainguard/platform/iam/v2beta1/terms_pb.ts");
    await session.call(TermsService.method.acceptTerms, { group, documentIds });
    const accepted = (await acceptances(session, group)).filter(({ docId }) => documentIds.includes(String(docId)));
    await session.output.list(view, accepted);
  });
}

function withGroup(command: Command): Command {
  return command.addOption(groupOption("--parent", "the group (default.group)"));
}

async function groupOf(session: Session, command: Command): Promise<string> {
  const text = command.opts<{ parent?: string }>().parent ?? session.config["default.group"];
  if (text !== undefined) return await findUid(session, groups, text);
  throw wrongUsage(
    "terms are accepted for a group",
    "Name it with --parent, or once for all with `gatehouse config set default.group GROUP`.",
  );
}

async function acceptances(session: Session, group: string): Promise<JsonObject[]> {
  const { TermsService } = await import("../../../gen/chainguard/platform/iam/v2beta1/terms_pb.ts");
  const found: JsonObject[] = [];
  let pageToken = "";
  do {
    const reply = await session.call(TermsService.method.listTermsAcceptances, { group, pageSize, pageToken });
    found.push(...((reply.termsAcceptances as JsonObject[] | undefined) ?? []));
    pageToken = textAt(reply, "nextPageToken");
  } while (pageToken !== "");
  return found;
}
