// The code of an invite in the address that somebody was sent: `/console/#invite=CODE`. Browsers do not send this part of an address
// to any server, and it is removed from the address at once.

const [, found = ""] = /^#invite=([\w.-]{1,256})$/.exec(location.hash) ?? [];
if (found !== "") history.replaceState(history.state, "", location.pathname + location.search);
let code = found;

/** Returns the code; empty without one. */
export function inviteCode(): string {
  return code;
}

/** Forgets the code. */
export function forgetInvite(): void {
  code = "";
}

/** Returns the address to send to somebody. */
export function inviteLink(newCode: string): string {
  return `${location.origin}/console/#invite=${newCode}`;
}
