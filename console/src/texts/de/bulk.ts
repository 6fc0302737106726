import type { texts as english } from "../en/bulk.ts";

export const texts: Readonly<Record<keyof typeof english, string>> = {
  "bulk.progress": "Fortschritt",
  "bulk.counts":
    "{done, number} von {total, number} erledigt{failed, plural, =0 {} other {, # fehlgeschlagen}}{untouched, plural, =0 {} other {, # unberührt}}",
  "bulk.stop": "Anhalten",
  "bulk.tryAgain": "{count, number} noch einmal versuchen",
  "bulk.goOn": "Mit {count, number} fortfahren",
  "bulk.results": "Ergebnisse",
  "bulk.more": "und {count, number} weitere",
  "bulk.done": "erledigt",
  "bulk.failed": "fehlgeschlagen",
  "bulk.gone": "Das gibt es nicht mehr.",
  "bulk.running": "läuft",
  "bulk.untouched": "unberührt",
  "bulk.role": "Rolle",
  "bulk.place": "In der Gruppe",
  "bulk.takenRole": "Nur diese Rolle (leer: alle Rollen)",
  "bulk.give.title": "{count, number} Konten eine Rolle geben",
  "bulk.give.button": "Rolle geben",
  "bulk.bindings.title": "{count, plural, one {# Rolle entziehen} other {# Rollen entziehen}}",
  "bulk.bindings.text":
    "Was sie erlauben, endet innerhalb einer Sekunde. Wer eine Rolle auch an anderer Stelle hat, behält sie dort.",
  "bulk.bindings.button": "Rollen entziehen",
  "bulk.ends.title": "{count, plural, one {Ende von # Rolle} other {Ende von # Rollen}}",
  "bulk.workloads.title": "{count, plural, one {# Workload löschen} other {# Workloads löschen}}",
  "bulk.workloads.text":
    "Ihre Tokens enden innerhalb einer Sekunde, und ihre Rollen werden gelöscht. Nichts davon lässt sich rückgängig machen.",
  "bulk.workloads.button": "Workloads löschen",
  "bulk.invites.title": "{count, plural, one {# Einladung widerrufen} other {# Einladungen widerrufen}}",
  "bulk.invites.text": "Ihre Codes und Links bewirken nichts mehr. Angenommene Rollen bleiben.",
  "bulk.invites.button": "Einladungen widerrufen",
  "bulk.tags.title": "{count, plural, one {# Tag löschen} other {# Tags löschen}}",
  "bulk.tags.text":
    "Unter diesen Namen kann niemand mehr ein Image holen. Die Images bleiben, und sind über ihren Digest zu haben.",
  "bulk.tags.button": "Tags löschen",
  "bulk.subscriptions.title": "{count, plural, one {# Abonnement löschen} other {# Abonnements löschen}}",
  "bulk.subscriptions.text": "Ereignisse, die auf diese Empfänger warten, werden verworfen.",
  "bulk.subscriptions.button": "Abonnements löschen",
  "bulk.events.title":
    "{count, plural, one {Ereignis für # Advisory festhalten} other {Ereignis für # Advisorys festhalten}}",
  "bulk.events.button": "Ereignisse festhalten",
};
