// The tab with the claims that the tokens of a workload must have, and its keys.
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { Column } from "../../shell/columns.ts";
import { Table } from "../../shell/table.tsx";
import { timeText, useTexts } from "../../texts/texts.ts";
import { Demands } from "./demands.tsx";
import { keysEndOf, keysOf, type PublicKey, typeOf } from "./identity-facts.ts";

/** The tab. */
export function Credentials({ identity }: { readonly identity: Identity }) {
  const { t, locale } = useTexts();
  const keysEnd = keysEndOf(identity);
  const keys = keysOf(identity);
  return (
    <div className="stack">
      <section className="card stack" aria-labelledby="demands">
        <h2 id="demands">{t("profile.demands")}</h2>
        <dl className="facts">
          <dt>{t("identities.type")}</dt>
          <dd>{t(`type.${typeOf(identity)}`)}</dd>
          <Demands identity={identity} />
          {keysEnd && (
            <>
              <dt>{t("identities.keys")}</dt>
              <dd>{t("identities.keysUntil", { time: timeText(keysEnd, locale) })}</dd>
            </>
          )}
        </dl>
      </section>
      {keys.length > 0 && <Keys keys={keys} />}
    </div>
  );
}

function Keys({ keys }: { readonly keys: readonly PublicKey[] }) {
  const { t } = useTexts();
  const columns: Column<PublicKey>[] = [
    { title: t("profile.keyId"), cell: ({ kid }) => <code>{kid === "" ? "–" : <bdi>{kid}</bdi>}</code> },
    { title: t("profile.keyType"), cell: ({ type }) => <code>{type}</code> },
    { title: t("profile.keyAlgorithm"), cell: ({ algorithm }) => <code>{algorithm || "–"}</code> },
  ];
  return (
    <Table
      label={t("profile.keyList")}
      list={{ rows: keys }}
      columns={columns}
      keyOf={({ index }) => String(index)}
      empty={null}
    />
  );
}
