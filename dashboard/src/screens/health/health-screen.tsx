import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { Health as HealthSchema } from '#contract/settings.ts'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { Table } from '../../ui/table.tsx'

type Health = z.infer<typeof HealthSchema>
type Limit = Health['limits'][number]
const count = (value: number | null) => (value === null ? 'none' : value.toLocaleString('en'))

export function Screen() {
  const health = useQuery({
    queryKey: keys.health,
    queryFn: ({ signal }) => fetchData(call('GET /internal/health'), { signal }),
    refetchInterval: 5000,
  })
  return (
    <LoadedPage title="Health" query={health} hasNoControls>
      {({ limits, ...now }) => (
        <>
          <dl className="grid gap-px overflow-hidden rounded-lg border bg-hairline max-md:grid-cols-2 md:grid-cols-3">
            <Fact name="Version" value={`Loam ${now.version}, PostgreSQL ${now.database}`} />
            <Fact
              name="Workers"
              value={now.workers === 0 ? 'none (queued rows wait)' : String(now.workers)}
            />
            <Fact name="Rows queued or running" value={count(now.rows_in_the_air)} />
            <Fact name="Runs in progress" value={count(now.runs_under_way)} />
            <Fact name="Mail" value={now.mail ? 'configured' : 'not configured'} />
            <Fact name="Single sign-on" value={now.single_sign_on ? 'configured' : 'not configured'} />
          </dl>
          <Table
            label="Limits"
            items={limits}
            getKey={({ setting }) => setting}
            columns={[
              { name: 'Limit', cell: ({ name }) => name },
              { name: 'Used', cell: (limit) => <Used limit={limit} /> },
              { name: 'Maximum', align: 'right', cell: ({ limit }) => count(limit) },
              {
                name: 'Setting',
                wideOnly: true,
                cell: ({ setting }) => <code className="text-12 break-all">{setting}</code>,
              },
            ]}
          />
        </>
      )}
    </LoadedPage>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div className="bg-bg px-4 py-3">
      <dt className="text-12 text-muted">{name}</dt>
      <dd className="font-medium">{value}</dd>
    </div>
  )
}

function Used({ limit: { name, used, limit } }: { limit: Limit }) {
  if (used === null) return null
  return (
    <div className="flex items-center gap-2">
      <span className="tabular-nums">{count(used)}</span>
      {limit !== null && (
        <span className="w-24">
          <ProgressBar label={`${name} used`} value={used} max={limit} />
        </span>
      )}
    </div>
  )
}
