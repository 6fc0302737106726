/** Texts about delegations, which several views show. */
export const texts = {
  "inactivity.lacks": "{maker}, who made it, no longer holds {capabilities}{more, plural, =0 {} other { and # more}}.",
  "inactivity.extended":
    "Its role has more capabilities than {maker} promised: {capabilities}{more, plural, =0 {} other { and # more}}.",
  "inactivity.hidden": "capabilities that you may not see",
  "inactivity.deleted": "The identity that made it was deleted.",
  "inactivity.unknown": "Nobody is known to have made it.",
} as const;
