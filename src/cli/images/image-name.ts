// The image that a command is about: repo and tag, repo and digest, or repo alone for its only digest.
import { Argument } from "commander";
import { completing } from "../client/completing.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { textAt } from "../resources/json.ts";
import { findUid, listNamed } from "../resources/lookup.ts";
import { namesOf } from "../resources/names.ts";
import { repos } from "../resources/repos.ts";
import { tags } from "../resources/tags.ts";

/** An image of a repo. */
export interface ImageName {
  readonly repoUid: string;
  readonly digest: string;
}

/** Returns the argument of commands about an image. */
export function imageArgument(): Argument {
  return completing(new Argument("<image>", "repo:tag or repo@sha256:…; the repo by name or uid"), namesOf(repos));
}

/** Finds the image that a user names. */
export async function findImage(session: Session, text: string): Promise<ImageName> {
  const [, repo, digest] = /^(.+)@(sha256:[0-9a-f]{64})$/.exec(text) ?? [];
  if (repo !== undefined && digest !== undefined) return { repoUid: await findUid(session, repos, repo), digest };
  const colon = text.lastIndexOf(":");
  if (text.includes("@") || colon <= 0)
    throw wrongUsage(`${JSON.stringify(text)} is not an image`, "Write shop:1.4 or shop@sha256:…");
  const repoUid = await findUid(session, repos, text.slice(0, colon));
  const name = text.slice(colon + 1);
  const [tag] = await listNamed(session, tags, name, { childrenOf: repoUid });
  if (!tag)
    throw new CommandFailure(`there is no tag ${JSON.stringify(name)} in ${text.slice(0, colon)} that you can see`, {
      hint: `See \`gatehouse images tags list --repo ${text.slice(0, colon)}\`.`,
    });
  const tagged = textAt(tag, "digest");
  if (tagged === "") throw new CommandFailure(`the tag ${JSON.stringify(name)} has no digest`);
  return { repoUid, digest: tagged };
}
