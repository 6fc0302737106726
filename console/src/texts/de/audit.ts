import type { texts as english } from "../en/audit.ts";

export const texts: Readonly<Record<keyof typeof english, string>> = {
  "audit.filter": "Filter",
  "audit.filterHelp":
    "Wörter wie kind:groups, actor:UID, resource:UID, method:UpdateGroup, after:2026-11-01, before:2026-11-27T12:00",
  "audit.unknown": "Diese Wörter haben keine Wirkung: {words}",
  "audit.none": "Keine Änderung passt.",
  "audit.older": "Ältere Änderungen",
  "audit.export": "{format} exportieren",
  "audit.server": "der Server",
  "audit.created": "hat angelegt:",
  "audit.updated": "hat geändert:",
  "audit.deleted": "hat gelöscht:",
  "audit.added": "hinzugefügt",
  "audit.removed": "entfernt",
  "audit.changed": "geändert",
  "audit.actor": "Handelnde Identität",
  "audit.resource": "Ressource",
  "audit.group": "Gruppe",
  "audit.request": "Anfrage",
  "audit.method": "Methode",
  "audit.sameActor": "Nur diese Identität",
  "audit.sameResource": "Nur diese Ressource",
  "audit.sameKind": "Nur diese Art",
};
