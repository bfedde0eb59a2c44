import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { AuditPage, AuditQuery, Health } from '#contract/settings.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { measureStorage } from '../../../files/store/storage-quota.ts'
import { measureRows } from '../../../sheets/store/row-quota.ts'
import { type AuditSubject, listAuditSubjects } from '../../store/audit-subjects.ts'
import { type AuditRecord, listAudit } from '../../store/audit.ts'
import { readHealth } from '../../store/health.ts'

const MB = 1_000_000
const manifest = z.object({ version: z.string() })
const { version } = manifest.parse(
  JSON.parse(readFileSync(new URL('../../../../../package.json', import.meta.url), 'utf8')),
)

/** Adds the pages for administrators: the audit log and the state of the server. */
export function organisationSettings(api: Api, { config, sendMail }: Services): void {
  api.get(
    '/audit',
    {
      config: { scope: 'members:write' },
      schema: { querystring: AuditQuery, response: { 200: success(200, AuditPage) } },
    },
    async ({ db, caller, query: { limit, ...filter } }) => {
      const found = await listAudit(db, caller.orgId, filter, limit + 1)
      const entries = found.slice(0, limit)
      const next = found.length > limit ? (entries.at(-1)?.entry_id ?? null) : null
      const subjects = await listAuditSubjects(
        db,
        caller.orgId,
        entries.map(({ target }) => target),
      )
      return ok({ entries: entries.map((entry) => viewEntry(entry, subjects.get(entry.target))), next })
    },
  )

  api.get(
    '/health',
    { config: { scope: 'members:write' }, schema: { response: { 200: success(200, Health) } } },
    async ({ db, caller }) => {
      const [health, rows, storage] = await Promise.all([
        readHealth(db, caller.orgId),
        measureRows(db, caller.orgId),
        measureStorage(db, caller.orgId),
      ])
      const { seats, ...shown } = health
      return ok({
        version,
        ...shown,
        mail: sendMail !== null,
        single_sign_on: config.LOAM_OIDC_ISSUER !== undefined,
        limits: [
          { name: 'Rows', setting: 'LOAM_ROWS_PER_ORG', used: rows.rows, limit: rows.limit },
          {
            name: 'Megabytes of files',
            setting: 'LOAM_STORAGE_MB_PER_ORG',
            used: Math.ceil(storage.used / MB),
            limit: storage.limit === null ? null : storage.limit / MB,
          },
          { name: 'Members', setting: 'LOAM_MEMBER_LIMIT', used: seats, limit: config.LOAM_MEMBER_LIMIT },
          ...[
            ['Requests per minute and key', 'LOAM_RATE_LIMIT_PER_MINUTE'] as const,
            ['Requests per day and key', 'LOAM_RATE_LIMIT_PER_DAY'] as const,
            ['Streams per key', 'LOAM_STREAMS_PER_KEY'] as const,
            ['Exports in progress', 'LOAM_EXPORTS_PER_ORG'] as const,
            ['Running cells per worker', 'LOAM_CONCURRENCY'] as const,
          ].map(([name, setting]) => ({ name, setting, used: null, limit: config[setting] })),
        ],
      })
    },
  )
}

function viewEntry({ key_id, last4, is_session, at, ...entry }: AuditRecord, subject?: AuditSubject) {
  const key = key_id === null ? null : is_session === true ? 'session' : `...${last4 ?? ''}`
  return { ...entry, at: at.toISOString(), key, subject: subject ?? null }
}
