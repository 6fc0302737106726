// The refresh token families of the database, for the token service.
import type { Clock } from "../../base/clock.ts";
import type { Database } from "../../storage/database.ts";
import {
  deleteRefreshFamily,
  findRefreshFamily,
  insertRefreshFamily,
  listRefreshFamilies,
  rotateRefreshFamily,
  updateRefreshFamily,
} from "../../storage/sign-in/sign-ins.ts";
import type { RefreshStore } from "../../sts/refresh.ts";

/** Returns the store of families. An identity has at most `limit` of them. */
export function refreshStore(database: Database, clock: Clock, limit: number): RefreshStore {
  const context = () => ({ actor: "", method: "refresh", requestId: "", time: clock() });
  return {
    add: (family) => database.write(context(), (tx) => insertRefreshFamily(tx, family, limit)),
    find: (id) => findRefreshFamily(database.session, id),
    rotate: (id, digest, next) => database.write(context(), (tx) => rotateRefreshFamily(tx, id, digest, next)),
    listOf: (identityUid) => listRefreshFamilies(database.session, identityUid),
    update: (id, signIn) => database.write(context(), (tx) => updateRefreshFamily(tx, id, signIn)),
    revoke: (id) => database.write(context(), (tx) => deleteRefreshFamily(tx, id)),
  };
}
