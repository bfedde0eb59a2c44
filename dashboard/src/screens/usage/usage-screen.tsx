import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { CreditsOverview } from '#contract/credits.ts'
import type { Usage as UsageSchema, UsageRow as UsageRowSchema } from '#contract/usage.ts'
import { call } from '../../api/calls.ts'
import { fetchData, LIVE } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Page } from '../../frame/page.tsx'
import { Refusal } from '../../frame/refusal.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { figure, plural } from '../../ui/figure.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Budgets } from './budgets.tsx'
import { fillDays, UsageChart } from './usage-chart.tsx'
import { UsageTable } from './usage-table.tsx'

type Overview = z.infer<typeof CreditsOverview>
type Usage = z.infer<typeof UsageSchema>
type UsageRow = z.infer<typeof UsageRowSchema>

const PERIODS = ['All time', 'Today', 'Last 7 days', 'Last 30 days', 'This month'] as const
type Period = (typeof PERIODS)[number]
/** Further dimensions for splitting the spending. */
const SPLITS = [
  { value: 'provider', label: 'Provider' },
  { value: 'member', label: 'Member' },
  { value: 'key', label: 'API key' },
  { value: 'trigger', label: 'Trigger' },
  { value: 'month', label: 'Month' },
] as const
type Split = (typeof SPLITS)[number]['value']
type Group = Split | 'workflow' | 'action' | 'day'

/** A day before the first charge of any installation. */
const FIRST_DAY = '2020-01-01'
const DAY_MS = 86_400_000
const formatDay = (time: number) => new Date(time).toISOString().slice(0, 10)

/** Returns the first day of a period. Days are in UTC, as in the ledger. */
function getFirstDay(period: Period, now = Date.now()): string {
  if (period === 'All time') return FIRST_DAY
  if (period === 'Today') return formatDay(now)
  if (period === 'This month') return `${formatDay(now).slice(0, 7)}-01`
  return formatDay(now - (period === 'Last 7 days' ? 6 : 29) * DAY_MS)
}

const usageCall = (from: string, group: Group) =>
  call('GET /credits/usage', { query: { from, group_by: group } })

function useUsage(from: string, group: Group) {
  return useQuery({
    queryKey: keys.usage(from, group),
    queryFn: ({ signal }) => fetchData(usageCall(from, group), { signal }),
    placeholderData: keepPreviousData,
    ...LIVE,
  })
}

export function Screen() {
  const [period, setPeriod] = useState<Period>('All time')
  const from = getFirstDay(period)
  const overview = useQuery({
    queryKey: keys.credits,
    queryFn: ({ signal }) => fetchData(call('GET /credits'), { signal }),
    ...LIVE,
  })
  const byWorkflow = useUsage(from, 'workflow')
  const byAction = useUsage(from, 'action')
  const byDay = useUsage(from, 'day')
  const [split, setSplit] = useState<Split>('provider')
  const bySplit = useUsage(from, split)
  const getKeyName = useKeyNames(split === 'key')
  if (overview.data === undefined && overview.error !== null) {
    return <Refusal error={overview.error} title="Usage" onRetry={() => void overview.refetch()} />
  }
  return (
    <Page
      title="Usage"
      actions={
        <>
          <div className="w-40">
            <Combobox label="Period" hideLabel value={period} choices={PERIODS} onChange={setPeriod} />
          </div>
          <CopyAsCurl call={usageCall(from, 'workflow')} />
        </>
      }
    >
      <Totals overview={overview.data} totals={byDay.data?.totals} />
      {byDay.data === undefined && byDay.error === null && <Skeleton />}
      {byDay.data !== undefined && byDay.data.totals.credits > 0 && (
        <UsageChart
          days={fillDays(
            byDay.data.rows.map(({ day = '', credits }) => ({ day, credits })),
            formatDay(Date.now()),
          )}
        />
      )}
      <Budgets />
      <UsageTable
        label="Credits by workflow"
        name="Workflow"
        query={byWorkflow}
        getName={({ workflow_name }) => workflow_name ?? 'no workflow'}
      />
      <UsageTable
        label="Credits by action"
        name="Action"
        query={byAction}
        getName={({ action_id }) => action_id ?? 'no action'}
      />
      <UsageTable label="Credits by day" name="Day" query={byDay} getName={({ day }) => day ?? ''} />
      <div className="w-44">
        <Combobox label="Group by" value={split} choices={SPLITS} onChange={setSplit} />
      </div>
      <UsageTable
        label={`Credits by ${SPLITS.find(({ value }) => value === split)?.label.toLowerCase() ?? split}`}
        name={SPLITS.find(({ value }) => value === split)?.label ?? split}
        query={bySplit}
        getName={(row) => (split === 'key' ? getKeyName(row.key_id) : splitName(row, split))}
      />
    </Page>
  )
}

/** The balance, and what was spent and saved. */
function Totals({
  overview,
  totals,
}: {
  overview: Overview | undefined
  totals: Usage['totals'] | undefined
}) {
  return (
    <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
      <div>
        <p className="text-12 text-muted">Balance</p>
        <p role="status" aria-label="Balance" className="text-28 font-semibold tabular-nums">
          {overview === undefined ? '…' : plural(overview.balance, 'credit')}
        </p>
      </div>
      {overview !== undefined && (
        <>
          <Figure name="Reserved" value={overview.held} />
          <Figure name="Spent today" value={overview.spent_today} />
          <Figure name="Spent this month" value={overview.spent_this_month} />
        </>
      )}
      {totals !== undefined && (
        <>
          <Figure name="Saved by cache" value={totals.saved_by_cache} />
          <Figure name="Saved by own keys" value={totals.saved_by_own_keys} />
        </>
      )}
    </div>
  )
}

/** Returns a function that names a key by its last characters, as the list of keys does. */
function useKeyNames(isNeeded: boolean): (keyId: string | null | undefined) => string {
  const apiKeys = useQuery({
    queryKey: keys.apiKeys,
    queryFn: ({ signal }) => fetchData(call('GET /internal/keys'), { signal }),
    enabled: isNeeded,
  })
  return (keyId) => {
    if (keyId === null || keyId === undefined) return 'no key'
    const key = apiKeys.data?.find(({ key_id }) => key_id === keyId)
    if (key !== undefined) return `Key ...${key.last4}`
    return apiKeys.data === undefined ? '…' : 'Signed in, or a removed key'
  }
}

function splitName(row: UsageRow, split: Exclude<Split, 'key'>): string {
  const name = row[split]
  if (name !== null && name !== undefined) return name
  return split === 'provider' ? 'no provider' : 'nobody'
}

function Figure({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <p className="text-12 text-muted">{name}</p>
      <p className="text-16 font-medium tabular-nums">{figure(value)}</p>
    </div>
  )
}
