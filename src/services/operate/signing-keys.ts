// The signing keys of an installation, for its operators: rotation with an overlap, and retirement of a leaked key.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type OperateService,
  SigningKey_Purpose,
  SigningKey_State,
  type SigningKeySchema,
} from "../../../gen/gatehouse/operate/v1/operate_pb.ts";
import { failedPrecondition, notFound } from "../../aip/errors.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import type { KeyRing } from "../../authn/key-ring.ts";
import type { KeyAlgorithm } from "../../authn/signing-key.ts";
import { newSigningKeys, type SigningPurpose, signingPurposes } from "../../authn/signing-purposes.ts";
import type { Handlers } from "../../pipeline/handlers.ts";
import { cutPage } from "../../resource/cut-page.ts";
import { type ServiceContext, writeContext } from "../../resource/service-context.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import type { Encryption } from "../../storage/installation/encryption.ts";
import {
  findSigningKey,
  keyStore,
  listSigningKeys,
  retireSigningKey,
  type SigningKeyRow,
} from "../../storage/installation/signing-keys.ts";
import { requireUnlimited } from "../operator-call.ts";

/** Records changes of signing keys in the audit log. */
export interface SigningKeyLog {
  /** The other keys retire at `othersRetireTime`, in milliseconds since the epoch. */
  rotated(tx: Transaction, key: SigningKeyRow, othersRetireTime: number): Promise<void>;
  retired(tx: Transaction, key: SigningKeyRow, retireTime: number): Promise<void>;
}

/** The dependencies of the signing key methods. */
export interface SigningKeyContext extends Pick<ServiceContext, "database" | "clock" | "pageTokenKey"> {
  readonly encryption: Encryption;
  readonly keys: Pick<KeyRing, "refresh">;
  readonly signingKeyLog: SigningKeyLog;
  readonly signingAlgorithm: KeyAlgorithm;
  /** The time for which a replaced key still verifies tokens, in milliseconds. */
  readonly keyOverlapMs: number;
}

type Methods = Pick<Handlers<typeof OperateService>, "listSigningKeys" | "rotateSigningKey" | "retireSigningKey">;

/** Returns the methods for signing keys. */
export function signingKeyMethods(context: SigningKeyContext): Methods {
  const { database, clock, encryption, keys } = context;
  const store = keyStore<KeyAlgorithm>(database, encryption, clock, (...added) =>
    context.signingKeyLog.rotated(...added),
  );
  return {
    listSigningKeys: listKeys(context),
    async rotateSigningKey(_request, call) {
      requireUnlimited(call, "rotate the signing key");
      const [record, ...others] = await newSigningKeys(context.signingAlgorithm, clock());
      await store.add([record, ...others], clock() + context.keyOverlapMs, writeContext(call, clock));
      await keys.refresh();
      const purposesOf = signingPurposes(await listSigningKeys(database.session), clock());
      return toMessage({ ...record, retireTime: null }, purposesOf(record.kid), clock());
    },
    async retireSigningKey({ keyId }, call) {
      requireUnlimited(call, "retire a signing key");
      const now = clock();
      const retired = await database.write(writeContext(call, clock), async (tx) => {
        const key = await findSigningKey(tx, keyId);
        if (!key) throw notFound("operate.gatehouse.dev/SigningKey", keyId);
        if (signingPurposes(await listSigningKeys(tx), now)(keyId).length > 0)
          throw failedPrecondition(
            "SIGNING_KEY_IN_USE",
            "the key signs new tokens; rotate the signing key first",
            keyId,
          );
        if (key.retireTime !== null && key.retireTime <= now) return key;
        await retireSigningKey(tx, keyId, now);
        await context.signingKeyLog.retired(tx, key, now);
        return { ...key, retireTime: now };
      });
      await keys.refresh();
      return toMessage(retired, [], now);
    },
  };
}

/** Rotations are rare: all keys are read, and a page is cut out. */
function listKeys(context: SigningKeyContext): Methods["listSigningKeys"] {
  return async (request, call) => {
    requireUnlimited(call, "list the signing keys");
    const now = context.clock();
    const all = await listSigningKeys(context.database.session);
    const positionOf = ({ createTime, kid }: SigningKeyRow) => ({ time: createTime, id: kid });
    const { rows, ...page } = await cutPage(context, call, request, async () => all, positionOf);
    const purposesOf = signingPurposes(all, now);
    return { ...page, signingKeys: rows.map((key) => toMessage(key, purposesOf(key.kid), now)) };
  };
}

/** The private part stays out. */
function toMessage(
  { kid, algorithm, createTime, retireTime }: Omit<SigningKeyRow, "privateJwk">,
  purposes: readonly SigningPurpose[],
  now: number,
) {
  const shown: MessageInitShape<typeof SigningKeySchema> = {
    keyId: kid,
    algorithm,
    purposes: purposes.map((purpose) => purposeNumbers[purpose]),
    state: purposes.length > 0 ? SigningKey_State.SIGNING : stateOf(retireTime, now),
    createTime: toTimestamp(createTime),
    ...(retireTime !== null && { retireTime: toTimestamp(retireTime) }),
  };
  return shown;
}

const purposeNumbers: Readonly<Record<SigningPurpose, SigningKey_Purpose>> = {
  own: SigningKey_Purpose.OWN,
  others: SigningKey_Purpose.OTHERS,
};

function stateOf(retireTime: number | null, now: number): SigningKey_State {
  return retireTime === null || retireTime > now ? SigningKey_State.VERIFYING : SigningKey_State.RETIRED;
}
