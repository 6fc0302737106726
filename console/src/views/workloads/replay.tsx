// Shows the verdicts of a rule on the seen tokens: newly denied, newly let in, and undecided ones.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type ReplayedToken,
  type ReplayRuleResponse,
  ReplayedToken_Verdict as Verdict,
} from "../../../../gen/gatehouse/iam/v1/seen_tokens_pb.ts";
import type { Column } from "../../shell/columns.ts";
import { Verdict as Outcome, Pill } from "../../shell/look.tsx";
import { Ago } from "../../shell/parts.tsx";
import { Table } from "../../shell/table.tsx";
import { type Texts, useTexts } from "../../texts/texts.ts";
import { FailedCheck, keyOf, Token } from "./seen-tokens.tsx";

/** The verdicts that are listed, the worst first. */
const listed: readonly Verdict[] = [Verdict.NEWLY_DENIED, Verdict.NEWLY_ALLOWED, Verdict.NOT_DECIDABLE];

const looks = {
  [Verdict.NEWLY_DENIED]: { tone: "critical", icon: "x-circle-fill", text: "trust.verdict.denied" },
  [Verdict.NEWLY_ALLOWED]: { tone: "medium", icon: "alert", text: "trust.verdict.allowed" },
  [Verdict.NOT_DECIDABLE]: { tone: "neutral", icon: "question", text: "trust.verdict.undecided" },
} as const;

/** The tokens with another verdict, and how many have the same. */
export function Replay({ response: { tokens, totals } }: { readonly response: ReplayRuleResponse }) {
  const { t } = useTexts();
  if (tokens.length === 0) return <p className="muted">{t("trust.replayNone")}</p>;
  const rows = listed.flatMap((wanted) => tokens.filter(({ verdict }) => verdict === wanted));
  const same = totals
    .filter(({ verdict }) => !listed.includes(verdict))
    .reduce((sum, { tokens: count }) => sum + Number(count), 0);
  return (
    <div className="stack dense">
      {rows.length === 0 ? (
        <Outcome isGood>{t("trust.replaySame")}</Outcome>
      ) : (
        <Table
          label={t("trust.replay")}
          list={{ rows }}
          columns={replayColumns(t)}
          keyOf={({ token, verdict }) => `${verdict} ${token && keyOf(token)}`}
          empty={null}
        />
      )}
      <p className="muted">{t("trust.same", { tokens: same })}</p>
    </div>
  );
}

function replayColumns(t: Texts): Column<ReplayedToken>[] {
  return [
    { title: t("trust.subject"), cell: ({ token }) => token && <Token token={token} /> },
    {
      title: t("trust.verdict"),
      cell: ({ verdict }) => {
        const { text, ...look } = looks[verdict as keyof typeof looks];
        return <Pill {...look}>{t(text)}</Pill>;
      },
    },
    { title: t("trust.reason"), cell: (one) => <Reason {...one} /> },
    { title: t("trust.count"), cell: ({ token }) => token?.count.toString() },
    { title: t("trust.last"), cell: ({ token }) => token?.lastTime && <Ago time={timestampDate(token.lastTime)} /> },
  ];
}

function Reason({ verdict, failedCheck }: ReplayedToken) {
  const { t } = useTexts();
  if (verdict !== Verdict.NOT_DECIDABLE) return <FailedCheck name={failedCheck} />;
  return t(failedCheck === "patterns" ? "trust.tooManySteps" : "trust.notStored", { claim: failedCheck });
}
