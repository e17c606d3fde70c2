// What stands in the log, in words. Kinds that a later version has are shown as they are.
/** @type {Record<string, string>} */
const SAID = {
  "sign-in": "signed in", "sign-in.failed": "wrong name or password", "sign-in.throttled": "had to wait before trying again",
  "sign-out": "signed out",
  "account.made": "created an account", "account.role": "changed a role", "account.password": "set a password",
  "account.deactivated": "deactivated an account", "account.activated": "reactivated an account",
  "invitation.made": "created an invitation", "invitation.used": "used an invitation", "invitation.withdrawn": "withdrew an invitation",
  "study.made": "created a study", "study.imported": "imported a study", "study.opened": "opened a study", "study.closed": "closed a study",
  "study.released": "reassigned somebody’s work", "study.renamed": "renamed a study", "study.removed": "removed a study",
  "study.settings": "changed a study’s settings", "study.gold": "made training or gold items", "study.exported": "exported a study",
  "study.recruiting": "changed how a study recruits", "study.paid": "approved or rejected participants",
  "scores.added": "added scores", "scores.removed": "removed scores", "item.decided": "decided an item",
  "report.downloaded": "downloaded a report", "session.exported": "exported a search session", "log.exported": "exported this log",
  "benchmark.started": "started a construction", "benchmark.stopped": "stopped a construction", "benchmark.downloaded": "downloaded a benchmark",
  "job.started": "started a job", "job.stopped": "stopped a job", "job.resumed": "resumed a job", "job.forgotten": "removed a job’s record",
  "database.backed-up": "backed up the database", "database.restored": "restored a backup",
};
/** @type {Record<string, string>} */
const GROUPS = { "sign-in.all": "Signing in", "account.all": "Accounts", "invitation.all": "Invitations", "study.all": "Studies", "scores.all": "Scores",
  "benchmark.all": "Benchmarks", "job.all": "Jobs", "database.all": "Database" };

export const inWords = (/** @type {string} */ kind) => SAID[kind] || kind;
export const groupInWords = (/** @type {string} */ group) => `${GROUPS[group] || group}: all`;
// Details are short plain values: roles, counts, addresses, forms.
export const detailsOf = (/** @type {Record<string, unknown>} */ details) => Object.entries(details).map(([name, value]) =>
  `${name.replaceAll("_", " ")}: ${Array.isArray(value) ? value.join(", ") : String(value)}`).join(" · ");
