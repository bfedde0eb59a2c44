import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { MAX_USAGE_ROWS, Usage, type UsageGroup, UsageQuery, type UsageRow } from '#contract/usage.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api } from '../../api/services.ts'
import { contentDisposition, nameByDays } from '../../files/exports/export-name.ts'
import { writeCsv } from '../../lib/csv/write.ts'
import { invalid } from '../../lib/errors.ts'
import { viewUsage } from '../usage.ts'
import { getLedgerReach } from './credits.ts'

export function usageRoutes(api: Api): void {
  api.get(
    '/credits/usage',
    {
      config: { scope: 'credits:read', narrowedKeys: 'allowed' },
      schema: {
        tags: ['Credits'],
        summary: 'Get spent and saved credits by day, workflow, action, provider, member, key or trigger',
        querystring: UsageQuery,
        response: { 200: z.union([success(200, Usage), z.string().describe('With `format=csv`')]) },
      },
    },
    async ({ db, caller, query }, reply) => {
      const { format, ...asked } = query
      const usage = await viewUsage(db, caller.orgId, getLedgerReach(caller), asked)
      if (usage.rows.length > MAX_USAGE_ROWS)
        throw invalid('group_by', `gives more than ${MAX_USAGE_ROWS} rows; ask for fewer groups or days`)
      if (format === 'json') return ok(usage)
      void reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', contentDisposition(nameByDays('usage', usage.from, usage.to), 'csv'))
      const columns = listColumns(usage)
      const findCell = (row: z.infer<typeof UsageRow>, column: string) =>
        (Object.entries(row).find(([name]) => name === column) ?? [])[1] ?? null
      return writeCsv(
        columns,
        usage.rows.map((row) => Object.fromEntries(columns.map((name) => [name, findCell(row, name)]))),
      )
    },
  )
}

const KEYS: Record<UsageGroup, string[]> = {
  day: ['day'],
  month: ['month'],
  workflow: ['workflow_id', 'workflow_name'],
  sheet: ['sheet_id'],
  action: ['action_id'],
  provider: ['provider'],
  member: ['member'],
  key: ['key_id'],
  trigger: ['trigger'],
}

const listColumns = ({ group_by, totals }: z.infer<typeof Usage>): string[] => [
  ...group_by.flatMap((group) => KEYS[group]),
  ...Object.keys(totals),
]
