// The keys that sign API tokens: which one signs, which ones still verify, rotation and retirement.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import {
  OperateService,
  type SigningKey,
  SigningKey_Purpose,
  SigningKey_State,
} from "../../../../gen/gatehouse/operate/v1/operate_pb.ts";
import type { Column } from "../../shell/columns.ts";
import { Pill } from "../../shell/look.tsx";
import { ActionButton, Ago, CopyAs } from "../../shell/parts.tsx";
import { DeleteResourceDialog, SaveDialog } from "../../shell/resource-dialogs.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useOperateAddress } from "./address.ts";

const { listSigningKeys, rotateSigningKey, retireSigningKey } = OperateService.method;

/** The list, its actions and their dialogs. */
export function SigningKeys() {
  const { t } = useTexts();
  const { change } = useOperateAddress();
  const { data, error, refetch } = useQuery(listSigningKeys, {});
  const columns = useColumns((id) => void change({ dialog: "retire", id }));
  return (
    <section className="card stack" aria-labelledby="keys">
      <div className="row">
        <h2 id="keys">{t("operate.keys")}</h2>
        <div className="grow" />
        <CopyAs method={listSigningKeys} request={{}} />
        <ActionButton missing={[]} onClick={() => void change({ dialog: "rotate" })}>
          {t("operate.rotate")}
        </ActionButton>
      </div>
      <p className="muted">{t("operate.keys.lead")}</p>
      <Table
        label={t("operate.keys")}
        list={{ rows: data?.signingKeys, error, onRetry: () => void refetch() }}
        columns={columns}
        keyOf={({ keyId }) => keyId}
        empty={<p>{t("operate.noKeys")}</p>}
      />
      <Dialogs keys={data?.signingKeys ?? []} />
    </section>
  );
}

function useColumns(onRetire: (id: string) => void): Column<SigningKey>[] {
  const { t } = useTexts();
  return [
    { title: t("operate.key"), cell: ({ keyId }) => <code title={keyId}>{shortId(keyId)}</code> },
    { title: t("operate.state"), cell: (key) => <State signingKey={key} /> },
    { title: t("operate.algorithm"), cell: ({ algorithm }) => algorithm, isWide: true },
    { title: t("operate.created"), cell: ({ createTime }) => createTime && <Ago time={timestampDate(createTime)} /> },
    {
      title: t("operate.actions"),
      isAction: true,
      cell: ({ keyId, state }) =>
        state === SigningKey_State.VERIFYING && (
          <ActionButton missing={[]} color="danger" onClick={() => onRetire(keyId)}>
            {t("operate.retire")}
          </ActionButton>
        ),
    },
  ];
}

function State({ signingKey: { state, purposes, retireTime } }: { readonly signingKey: SigningKey }) {
  const { t } = useTexts();
  if (state === SigningKey_State.SIGNING)
    return (
      <Pill tone="good" icon="check-circle-fill">
        {t(signsTextOf(purposes))}
      </Pill>
    );
  const time = retireTime && <Ago time={timestampDate(retireTime)} />;
  return state === SigningKey_State.VERIFYING ? (
    <Pill icon="clock">
      {t("operate.verifies")} {time}
    </Pill>
  ) : (
    <Pill tone="neutral" icon="blocked">
      {t("operate.retired")} {time}
    </Pill>
  );
}

/** Returns the text for the tokens that a key signs: those for the API, those for others, or all. */
function signsTextOf(purposes: readonly SigningKey_Purpose[]) {
  const own = purposes.includes(SigningKey_Purpose.OWN);
  const others = purposes.includes(SigningKey_Purpose.OTHERS);
  if (own === others) return "operate.signs";
  return own ? "operate.signs.own" : "operate.signs.others";
}

function Dialogs({ keys }: { readonly keys: readonly SigningKey[] }) {
  const { t } = useTexts();
  const { search, close } = useOperateAddress();
  if (search.dialog === "rotate")
    return (
      <SaveDialog
        title={t("operate.rotate")}
        method={rotateSigningKey}
        request={{}}
        fields={[]}
        button={t("operate.rotate")}
        report={t("operate.rotated")}
        onClose={close}
      >
        {() => <p>{t("operate.rotate.text")}</p>}
      </SaveDialog>
    );
  const key = keys.find(({ keyId }) => keyId === search.id);
  if (search.dialog !== "retire" || !key) return null;
  return (
    <DeleteResourceDialog
      title={t("operate.retire.title", { key: shortId(key.keyId) })}
      text={t("operate.retire.text")}
      button={t("operate.retire")}
      name={shortId(key.keyId)}
      method={retireSigningKey}
      request={{ keyId: key.keyId }}
      report={t("operate.retired.done")}
      onClose={close}
    />
  );
}

function shortId(keyId: string): string {
  return keyId.slice(0, 8);
}
