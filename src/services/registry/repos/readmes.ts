import { createHash } from "node:crypto";
import { setImmediate as nextTick } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import { RepoReadmeSchema, type ReposService } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { invalidField } from "../../../aip/errors.ts";
import { applyMask } from "../../../aip/field-mask.ts";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import type { Handlers } from "../../../pipeline/handlers.ts";
import type { MessageRules } from "../../../pipeline/text-rules.ts";
import { requestMask } from "../../../resource/apply-update.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { updateRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import { readReadme, writeReadme } from "../../../storage/registry/repos-and-tags.ts";
import { type RepoRow, repoCollection } from "../../../storage/registry/rows.ts";

/** The kind of readmes in the change log. */
export const readmeKind = "repo_readmes";

/** The maximum length of a readme, in UTF-16 units. Rendering a longer one would block other requests. */
const maxLength = 65_536;

/** Caches whether a readme is safe, by digest. */
const safety = new LRUCache<string, boolean>({ max: 10_000 });

/** The rules of readmes. `requireSafe` runs later, after authorization. */
export const readmeRules: MessageRules = {
  schema: RepoReadmeSchema,
  fields: {
    content: {
      test: (text) => text.length <= maxLength && !text.includes("\0"),
      description: `must be at most ${maxLength} characters without NUL`,
      maxLength,
    },
  },
};

type ReadmeHandlers = Pick<Handlers<typeof ReposService>, "getRepoReadme" | "updateRepoReadme">;

/** Returns the handlers of readmes. Every repo has one, which may be empty. */
export function repoReadmes(
  { database, clock }: ServiceContext,
  findRepo: (session: Session, uid: string) => MaybePromise<RepoRow>,
): ReadmeHandlers {
  return {
    async getRepoReadme({ uid }) {
      const content = await database.read(async (session) => {
        await findRepo(session, uid);
        return await readReadme(session, uid);
      });
      return { uid, content: await displayableReadme(content) };
    },

    async updateRepoReadme({ repoReadme: value, updateMask }, call) {
      const { uid } = value!;
      const mask = requestMask(RepoReadmeSchema, value!, updateMask);
      await requireSafe(value!.content);
      const written = await database.write(writeContext(call, clock), async (tx) => {
        const repo = await findRepo(tx, uid);
        const before = await readReadme(tx, uid);
        const readme = create(RepoReadmeSchema, { uid, content: before });
        applyMask(RepoReadmeSchema, readme, value!, mask);
        if (readme.content === before) return readme;
        await updateRow(
          tx,
          repoCollection,
          repo,
          { ...repo, updateTime: tx.context.time },
          { changesDependents: true },
        );
        await setReadme(tx, repo, before, readme.content);
        return readme;
      });
      return { ...written, content: await displayableReadme(written.content) };
    },
  };
}

/** Throws INVALID_ARGUMENT unless a readme is Markdown that is safe to show. */
export async function requireSafe(content: string): Promise<void> {
  if (!(await isSafe(content))) throw invalidField("content", "readme contained unsafe html content");
}

/** Returns a stored readme for display. A readme that was accepted under weaker rules becomes a code block if it is not safe now. */
export async function displayableReadme(content: string): Promise<string> {
  return (await isSafe(content)) ? content : codeBlock(content);
}

async function isSafe(content: string): Promise<boolean> {
  const digest = createHash("sha256").update(content).digest("base64");
  const known = safety.get(digest);
  if (known !== undefined) return known;
  // Loaded on first use: its libraries take a third of the start time.
  const { isSafeMarkdown } = await import("./markdown.ts");
  // Checking many readmes in a row must not block other requests.
  await nextTick();
  const isSafeText = isSafeMarkdown(content);
  safety.set(digest, isSafeText);
  return isSafeText;
}

/** CommonMark §4.5: a fence ends with one that is at least as long. */
function codeBlock(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}\n`;
}

/** Sets the readme of a repo and logs the change. */
export async function setReadme(tx: Transaction, repo: RepoRow, before: string, content: string): Promise<void> {
  await writeReadme(tx, repo.uid, content);
  const change = { before: { content: before }, after: { content } };
  tx.logChange({ kind: readmeKind, uid: repo.uid, groupUid: repo.parent, ...change });
}
