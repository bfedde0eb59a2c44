import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { SheetId } from '../../../api/calls.ts'
import type { CellDetail } from '../../../api/sheet.ts'
import { Group } from './panel.tsx'
import { Providers } from './providers-asked.tsx'

/** The origin of the result of a cell, the time that it took and its cost. */
export function Provenance({
  provenance,
  sheet,
}: {
  provenance: NonNullable<CellDetail['provenance']>
  sheet: SheetId
}) {
  const { attempts, duration_ms, credits, cache_hit, run_id, revision, started_at, providers } = provenance
  const facts: [string, ReactNode][] = [
    ['Attempts', String(attempts)],
    ['Duration', duration_ms < 1000 ? `${duration_ms} ms` : `${(duration_ms / 1000).toFixed(1)} s`],
    ['Credits', credits.toLocaleString('en', { maximumFractionDigits: 3 })],
    ['Cache', cache_hit ? 'cached result' : 'not used'],
    ['Started', new Date(started_at).toLocaleString()],
    [
      'Run',
      <Link
        key="run"
        to="/workflows/$workflowId/sheets/$sheetId/runs"
        params={sheet}
        title={run_id}
        className="text-accent-text underline"
      >
        Show in Runs
      </Link>,
    ],
    ['Revision', String(revision)],
  ]
  return (
    <>
      <Group name="Provenance">
        <dl className="grid grid-cols-[90px_1fr] gap-x-3 gap-y-0.5">
          {facts.map(([fact, value]) => (
            <div key={fact} className="contents">
              <dt className="text-muted">{fact}</dt>
              <dd className="min-w-0 break-all">{value}</dd>
            </div>
          ))}
        </dl>
      </Group>
      {providers.length > 0 && <Providers providers={providers} />}
    </>
  )
}
