// The issuer of the operator's login provider, which rules about people need wherever they run.
import type { Session, Transaction } from "../engine/session.ts";
import { readSetting, writeSetting } from "../engine/settings.ts";

const loginIssuerSetting = "login_issuer";

/** Returns the issuer of the operator's login provider; empty for none. */
export async function readLoginIssuer(session: Session): Promise<string> {
  return (await readSetting(session, loginIssuerSetting)) ?? "";
}

/** Stores the issuer of the operator's login provider; empty for none. */
export async function storeLoginIssuer(tx: Transaction, issuer: string): Promise<void> {
  if ((await readLoginIssuer(tx)) !== issuer) await writeSetting(tx, loginIssuerSetting, issuer);
}
